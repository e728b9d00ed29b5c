/**
 * The stages that each request passes in order. A stage may respond, or pass the request on and change the response. No
 * byte of a body is read before the caller is authorized.
 */
import { badRequest, isApiError, unknownResource } from "../api/errors/api-error.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { type MaybePromise, whenDone } from "../base/loop/maybe-promise.ts";
import type { Metrics } from "../base/metrics/metrics.ts";
import { authenticate } from "./access/authn/authentication.ts";
import type { Authenticator } from "./access/authn/authenticator.ts";
import { authorize } from "./access/authz/authorization.ts";
import { impersonate } from "./access/authz/impersonation.ts";
import type { Egress } from "./egress/egress.ts";
import { isCustom, isStored } from "./objects/registry.ts";
import type { Registry } from "./objects/registry.ts";
import { chooseForm } from "./representation/form.ts";
import type { Form } from "./representation/form.ts";
import { errorResponse, represent } from "./representation/represent.ts";
import type { RepresentationTools } from "./representation/represent.ts";
import type { Answer } from "./request/answer.ts";
import type { Call } from "./request/call.ts";
import type { Exchange, Next, Route, Stage } from "./request/exchange.ts";
import type { AcceptedRequest, HttpHandler, HttpRequest, HttpResponse } from "./request/http.ts";
import { parseRequest } from "./request/parse-request.ts";
import type { FlowMark } from "./request/request-notes.ts";
import { RequestNotes } from "./request/request-notes.ts";
import { auditStages } from "./stages/audit/audit-stage.ts";
import type { AuditTrail } from "./stages/audit/audit-trail.ts";
import { endInTime } from "./stages/deadline.ts";
import type { Fairness } from "./stages/fairness/create-fairness.ts";
import { measure } from "./stages/request-metrics.ts";
import { dispatch, findCall, READS, refuseBroken, requireFit } from "./verbs/dispatch.ts";
import { subresourceVerb } from "./verbs/subresources/subresources.ts";
import type { VerbParts } from "./verbs/verb.ts";

export interface PipelineParts {
  readonly verbParts: VerbParts;
  readonly log: Log;
  readonly egress: Egress;
  readonly metrics: Metrics;
  readonly tools: RepresentationTools;
  readonly routes: readonly Route[];
  readonly fairness: Pick<Fairness, "stage">;
  readonly authenticators: readonly Authenticator[];
  /** Relays requests to extension servers. */
  readonly relayStage: Stage;
  /** Connect requests for subresources to pods, Services and nodes. */
  readonly connectionStages: readonly Stage[];
  readonly audit: AuditTrail | undefined;
}

export function pipeline(parts: PipelineParts): HttpHandler {
  const { verbParts, log, egress, metrics, tools, routes, fairness, authenticators } = parts;
  const { loop, registry, authorizer } = verbParts;
  const audited = auditStages(parts.audit, { loop, egress }, tools);
  const stages: readonly Stage[] = [
    measure(metrics, verbParts),
    identify(loop),
    answerErrors(log),
    refuseMalformed,
    endInTime(loop),
    ...audited.refusals,
    authenticate(authenticators),
    ...audited.requests,
    impersonate(authorizer),
    fairness.stage,
    authorize(authorizer),
    parts.relayStage,
    forSubresources(parts.connectionStages),
    answerRoutes(routes, registry),
    catchUp(registry),
  ];
  const resources: Next = ({ request, info, query, user, notes }) => {
    if (info.type === "other" || user === undefined) throw new Error("resource requests are authenticated");
    const resolved = findCall({ request, info, query, user, notes }, registry);
    if (resolved === undefined) {
      refuseBroken(info, registry);
      return nothingThere(request, info, registry);
    }
    requireFit(resolved);
    // For custom kinds, a missing subresource is reported before an unacceptable form.
    if (info.subresource !== "" && isCustom(resolved.resource)) subresourceVerb(resolved);
    // An unacceptable form is refused before any write.
    const form = chooseForm(resolved);
    const call = withoutConversion(resolved, form);
    const asked = { request, info, query, notes, resource: call.resource, form };
    return whenDone(dispatch(call, verbParts), (answer) =>
      whenDone(readyToShow(answer, tools), () => {
        notes.onAnswer?.(answer, call.resource);
        return represent(answer, asked, tools);
      }),
    );
  };
  const run = composed(stages, resources);
  return (request) => run(begin(request));
}

/** Metadata-only reads of custom kinds need no conversion webhook. */
function withoutConversion(call: Call, { transform }: Form): Call {
  const webhook = isStored(call.resource) ? call.resource.custom?.webhook : undefined;
  const isMetadataRead = transform !== undefined && transform !== "Table" && READS.has(call.info.verb);
  return webhook === undefined || !isMetadataRead ? call : { ...call, resource: webhook.unconverted() };
}

function readyToShow(answer: Answer, { versions }: RepresentationTools): MaybePromise<void> {
  if (answer.type === "stored") return versions.readyToShow([answer.stored], answer.resource);
  if (answer.type === "list") return versions.readyToShow(answer.items, answer.resource);
  return undefined;
}

function composed([first, ...rest]: readonly Stage[], last: Next): Next {
  if (first === undefined) return last;
  const next = composed(rest, last);
  return (exchange) => first(exchange, next);
}

/** Requests without a subresource skip the stages. */
function forSubresources(stages: readonly Stage[]): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    if (info.type === "other" || info.subresource === "") return next(exchange);
    return composed(stages, next)(exchange);
  };
}

/** The only place that parses method and target. */
function begin(request: HttpRequest): Exchange {
  const { info, query } = parseRequest(request.method, request.target);
  return { request, query, info, user: undefined, notes: new RequestNotes(request) };
}

/** Refuses requests that other servers could interpret differently, before any stage decides or acts on them. */
const refuseMalformed: Stage = (exchange, next) => {
  const { info } = exchange;
  if (info.type === "other" && info.problem !== undefined) throw badRequest(info.problem);
  return next(exchange);
};

/** Adds an audit ID to each response, so that logs can be searched for it. */
function identify(loop: Loop): Stage {
  const random = loop.random("audit-ids");
  return (exchange, next) => {
    const { headers, direct } = exchange.request;
    // Callers in this process do not read headers.
    if (direct !== undefined) return next(exchange);
    const asked = headers.get("audit-id");
    const id = asked !== undefined && /^[\w-]{1,64}$/.test(asked) ? asked : random.uuid();
    exchange.notes.auditId = id;
    return whenDone(next(exchange), (response) => identified(response, id, exchange.notes.flow));
  };
}

function identified(response: HttpResponse, id: string, flow: FlowMark | undefined): HttpResponse {
  const headers = new Map(response.headers);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-cache, private");
  headers.set("audit-id", id);
  if (flow !== undefined && flow.schemaUid !== "") {
    headers.set("x-kubernetes-pf-flowschema-uid", flow.schemaUid);
    headers.set("x-kubernetes-pf-prioritylevel-uid", flow.levelUid);
  }
  return { ...response, headers };
}

function answerErrors(log: Log): Stage {
  const refusal = (error: unknown, { request, info, query, notes }: Exchange): HttpResponse => {
    if (!isApiError(error)) log.error("a request failed", { target: info.rawPath + info.rawQuery, error });
    return errorResponse(error, { request, query }, notes.warnings);
  };
  return (exchange, next) => {
    try {
      const reply = next(exchange);
      return reply instanceof Promise ? reply.catch((error: unknown) => refusal(error, exchange)) : reply;
    } catch (error) {
      return refusal(error, exchange);
    }
  };
}

/** Waits until this server knows a kind that another server has just begun to serve. */
function catchUp(registry: Registry): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    const behind = info.type === "resource" ? registry.catchUp(info) : undefined;
    return behind === undefined ? next(exchange) : behind.then(() => next(exchange));
  };
}

function answerRoutes(routes: readonly Route[], registry: Registry): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    return info.type === "resource" ? next(exchange) : answerRoute(exchange, routes, registry);
  };
}

async function answerRoute(
  exchange: Exchange,
  routes: readonly Route[],
  registry: Registry,
): Promise<HttpResponse> {
  for (const route of routes) {
    const response = route(exchange);
    if (response !== undefined) return response;
  }
  return nothingThere(exchange.request, groupOf(exchange.info.path), registry);
}

/** The group of a path that ends at the version. */
function groupOf(path: string): { readonly group: string } | undefined {
  const parts = path.split("/");
  if (parts[1] === "api" && parts.length > 2) return { group: "" };
  const group = parts[1] === "apis" && parts.length > 3 ? parts[2] : undefined;
  return group === undefined || group === "" ? undefined : { group };
}

/** Unknown paths in built-in groups get a Status. Other unknown paths may not belong to the API and get a page. */
function nothingThere(
  { direct }: AcceptedRequest,
  place: { readonly group: string } | undefined,
  { localVersions }: Registry,
): HttpResponse {
  const isLocal = place !== undefined && localVersions.some(({ group }) => group === place.group);
  if (isLocal || direct !== undefined) throw unknownResource();
  return notFoundPage();
}

function notFoundPage(): HttpResponse {
  return {
    status: 404,
    headers: new Map([
      ["content-type", "text/plain; charset=utf-8"],
      ["x-content-type-options", "nosniff"],
    ]),
    body: Buffer.from("404 page not found\n"),
  };
}
