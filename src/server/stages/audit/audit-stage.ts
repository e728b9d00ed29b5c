/**
 * The pipeline stages that write audit events. One runs right after authentication, so that it sees all later steps.
 * The other records failed authentication. Without a policy there are none.
 */
import { isApiError } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { Egress } from "../../egress/egress.ts";
import type { ViewTools } from "../../representation/object-view.ts";
import type { Exchange, Reply, Stage } from "../../request/exchange.ts";
import type { DirectAnswer, AcceptedRequest, HttpResponse } from "../../request/http.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { AuditRecord } from "./audit-record.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { ended, EndedFeed } from "./ended.ts";
import type { AuditedRequest } from "./policy.ts";

export interface AuditStages {
  /** Run before authentication. */
  readonly refusals: readonly Stage[];
  /** Run right after authentication. */
  readonly requests: readonly Stage[];
}

export function auditStages(
  trail: AuditTrail | undefined,
  { loop, egress }: { readonly loop: Loop; readonly egress: Egress },
  tools: ViewTools,
): AuditStages {
  if (trail === undefined) return { refusals: [], requests: [] };
  trail.connect(egress);
  const random = loop.random("audit-ids");
  const begin = (exchange: Exchange): AuditRecord | undefined => {
    const decision = trail.decide(requestOf(exchange));
    if (decision.level === "None") return undefined;
    const auditId = exchange.notes.auditId ?? random.uuid();
    const write = (event: string): void => trail.write(event);
    return new AuditRecord({ exchange, decision, auditId, now: () => loop.now(), tools, write });
  };
  return { refusals: [auditRefusals(begin)], requests: [auditRequests(begin)] };
}

type Begin = (exchange: Exchange) => AuditRecord | undefined;

function auditRequests(begin: Begin): Stage {
  return (exchange, next) => {
    exchange.notes.isKnown = true;
    const record = begin(exchange);
    if (record === undefined) return next(exchange);
    const { request, notes } = exchange;
    request.onBody = (body) => record.received(body);
    notes.onAnswer = (answer, resource) => record.answered(answer, resource);
    record.stage("RequestReceived");
    return followed(
      () => next(exchange),
      (response) => concluded(response, record, exchange),
      (error) => record.failed(error),
    );
  };
}

/** Writes one event, as upstream: a caller was refused, and the kinds of its credentials, but not their content. */
function auditRefusals(begin: Begin): Stage {
  return (exchange, next) =>
    followed(
      () => next(exchange),
      (response) => response,
      (error) => {
        if (exchange.notes.isKnown || !isApiError(error, "Unauthorized")) return;
        begin(exchange)?.refused(error, attempted(exchange.request));
      },
    );
}

function followed(
  run: () => Reply,
  done: (response: HttpResponse) => HttpResponse,
  failed: (error: unknown) => void,
): Reply {
  const rethrow = (error: unknown): never => {
    failed(error);
    throw error;
  };
  let reply: Reply;
  try {
    reply = run();
  } catch (error) {
    return rethrow(error);
  }
  return reply instanceof Promise ? reply.then(done, rethrow) : done(reply);
}

function concluded(response: HttpResponse, record: AuditRecord, { info }: Exchange): HttpResponse {
  const { status } = response;
  const complete = (): void => record.stage("ResponseComplete", status);
  if (!isLong(info) || !isOpen(response)) {
    complete();
    return response;
  }
  record.stage("ResponseStarted", status);
  const { body, feed, direct, switched } = response;
  if (feed !== undefined) return { ...response, feed: new EndedFeed(feed, complete) };
  if (switched !== undefined) {
    switched.stream.once("close", complete);
    return response;
  }
  if (direct?.type === "events") {
    const events: DirectAnswer = { type: "events", events: ended(direct.events, complete) };
    return { ...response, direct: events };
  }
  return { ...response, body: body instanceof Uint8Array ? body : ended(body, complete) };
}

function isOpen({ body, feed, direct, switched }: HttpResponse): boolean {
  if (switched !== undefined || feed !== undefined) return true;
  return direct === undefined ? !(body instanceof Uint8Array) : direct.type === "events";
}

const LONG = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** Whether the request continues after its response has begun. */
function isLong(info: RequestInfo): boolean {
  return info.type === "resource" && (info.verb === "watch" || LONG.has(info.subresource));
}

function requestOf({ info, user }: Exchange): AuditedRequest {
  if (info.type === "other") {
    const { verb, path } = info;
    return { user, verb, path, group: "", resource: "", subresource: "", namespace: "", name: "" };
  }
  const { verb, group, resource, subresource, accessNamespace: namespace, accessName: name } = info;
  return { user, verb, path: undefined, group, resource, subresource, namespace, name };
}

/** Upstream's message. */
function attempted({ headers, peer }: AcceptedRequest): string {
  const [scheme] = (headers.get("authorization") ?? "").trim().split(" ", 1);
  const ways = [
    ...(peer === undefined ? [] : ["x509"]),
    ...(scheme === undefined || scheme === ""
      ? []
      : [/^(?:bearer|basic)$/i.test(scheme) ? scheme.toLowerCase() : "unknown"]),
  ];
  if (ways.length === 0) return "Authentication failed, no credentials provided";
  return `Authentication failed, attempted: ${ways.join(", ")}`;
}
