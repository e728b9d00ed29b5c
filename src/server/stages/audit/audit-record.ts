/** What is written down of one request, from stage to stage. */
import { isApiError, toStatus } from "../../../api/errors/api-error.ts";
import type { Status } from "../../../api/errors/api-error.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import { formatMicroTime } from "../../../api/values/time.ts";
import type { Resource } from "../../objects/registry.ts";
import type { ViewTools } from "../../representation/object-view.ts";
import type { Answer } from "../../request/answer.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { User } from "../../request/user.ts";
import { includes } from "./policy.ts";
import type { AuditDecision, AuditStage } from "./policy.ts";
import { answerText, bodyText } from "./recorded-objects.ts";
import type { RecordOptions } from "./recorded-objects.ts";
import { sourceAddresses } from "./source-addresses.ts";

const USER_AGENT_CHARS_MAX = 1024;
const TRUNCATED = "...TRUNCATED";

export interface RecordParts {
  readonly exchange: Exchange;
  readonly decision: AuditDecision;
  readonly auditId: string;
  readonly now: () => number;
  readonly tools: ViewTools;
  readonly write: (event: string) => void;
}

/** As an event names the object that a request is about. */
interface ObjectReference {
  resource: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion: string;
  resourceVersion?: string;
  subresource?: string;
}

const REFERENCE_FIELDS = ["namespace", "name", "uid", "resourceVersion"] as const;

export class AuditRecord {
  readonly #parts: RecordParts;
  readonly #receivedAt: number;
  /** Looked at when it came: when it ends, the client may be gone. */
  readonly #sources: readonly string[];
  readonly #reference: ObjectReference | undefined;
  #status: Partial<Status> | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;
  #isTruncated = false;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#receivedAt = parts.now();
    this.#sources = sourceAddresses(parts.exchange.request);
    this.#reference = referenceOf(parts.exchange);
  }

  /** The body of the request, before anything is made of it. */
  received(body: unknown): void {
    const { decision, exchange } = this.#parts;
    const isPatch = exchange.info.type === "resource" && exchange.info.verb === "patch";
    if (!isPatch) this.#complete(body);
    if (!includes(decision.level, "Request")) return;
    this.#requestObject = this.#kept(bodyText(body, this.#options));
  }

  answered(answer: Answer, resource: Resource): void {
    if (answer.type === "watch") return;
    if (answer.type === "status") this.#status = boundedStatus(answer.status);
    if (answer.type === "stored" && this.#reference?.name === undefined)
      this.#complete(answer.stored.glimpse(), ["name"]);
    if (!includes(this.#parts.decision.level, "RequestResponse")) return;
    const options = { ...this.#options, tools: this.#parts.tools };
    this.#responseObject = this.#kept(answerText(answer, resource, options));
  }

  failed(error: unknown): void {
    this.#status = boundedStatus(toStatus(error));
    this.stage(isApiError(error) ? "ResponseComplete" : "Panic");
  }

  /** Of whom it was not found out who they are. */
  refused(error: unknown, message: string): void {
    this.#status = { ...boundedStatus(toStatus(error)), message };
    this.stage("ResponseStarted");
  }

  stage(stage: AuditStage, code?: number): void {
    const { decision, write } = this.#parts;
    if (code !== undefined) this.#status = { metadata: {}, ...this.#status, code };
    if (!decision.omitStages.has(stage)) write(this.#event(stage));
  }

  get #options(): RecordOptions {
    const { exchange, decision } = this.#parts;
    return { info: exchange.info, omitManagedFields: decision.omitManagedFields };
  }

  #kept(text: string | undefined): string | undefined {
    this.#isTruncated ||= text === undefined;
    return text;
  }

  /** A new object's name is in its body only, or is made up by the server. */
  #complete(object: unknown, fields: typeof REFERENCE_FIELDS | readonly ["name"] = REFERENCE_FIELDS): void {
    const reference = this.#reference;
    const metadata = isJsonObject(object) ? object["metadata"] : undefined;
    if (reference === undefined || !isJsonObject(metadata)) return;
    for (const field of fields) {
      const value = metadata[field];
      if (reference[field] === undefined && typeof value === "string" && value !== "")
        reference[field] = value;
    }
  }

  #event(stage: AuditStage): string {
    const { exchange, decision, auditId, now } = this.#parts;
    const { request, info, user, notes } = exchange;
    const { impersonated, impersonationConstraint } = notes;
    const head = {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: decision.level,
      auditID: auditId,
      stage,
      requestURI: info.rawPath + info.rawQuery,
      verb: info.verb,
      user: user === undefined ? {} : userInfo(user),
      ...(impersonated !== undefined && { impersonatedUser: userInfo(impersonated) }),
      ...(impersonationConstraint !== undefined && { authenticationMetadata: { impersonationConstraint } }),
      ...(this.#sources.length > 0 && { sourceIPs: this.#sources }),
      ...agentOf(request.headers.get("user-agent")),
      ...(this.#reference !== undefined && { objectRef: this.#reference }),
      ...(this.#status !== undefined && { responseStatus: this.#status }),
    };
    const tail = {
      requestReceivedTimestamp: timeText(this.#receivedAt),
      stageTimestamp: timeText(now()),
      ...this.#annotations(),
    };
    const objects = [
      textField("requestObject", this.#requestObject),
      textField("responseObject", this.#responseObject),
    ];
    return `${JSON.stringify(head).slice(0, -1)}${objects.join("")},${JSON.stringify(tail).slice(1)}`;
  }

  #annotations(): { readonly annotations?: Readonly<Record<string, string>> } {
    const { annotations } = this.#parts.exchange.notes;
    const truncated = this.#isTruncated ? { "audit.k8s.io/truncated": "true" } : {};
    if (annotations.size === 0 && !this.#isTruncated) return {};
    return { annotations: { ...Object.fromEntries(annotations), ...truncated } };
  }
}

function textField(name: string, text: string | undefined): string {
  return text === undefined ? "" : `,"${name}":${text}`;
}

/** Without what has no bound. */
function boundedStatus({ status, message, reason, details, code = 200 }: Status): Partial<Status> {
  return {
    metadata: {},
    status,
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
    code,
  };
}

function referenceOf({ info }: Exchange): ObjectReference | undefined {
  if (info.type === "other") return undefined;
  const { resource, accessNamespace: namespace, accessName: name, group, version, subresource } = info;
  return {
    resource,
    ...(namespace !== "" && { namespace }),
    ...(name !== "" && { name }),
    ...(group !== "" && { apiGroup: group }),
    apiVersion: version,
    ...(subresource !== "" && { subresource }),
  };
}

function userInfo({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function agentOf(text: string | undefined): { readonly userAgent?: string } {
  if (text === undefined || text === "") return {};
  const isLong = text.length > USER_AGENT_CHARS_MAX;
  return { userAgent: isLong ? `${text.slice(0, USER_AGENT_CHARS_MAX)}${TRUNCATED}` : text };
}

function timeText(ms: number): string {
  return formatMicroTime(BigInt(Math.floor(ms)) * 1000n);
}
