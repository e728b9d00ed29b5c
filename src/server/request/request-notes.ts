/** Collects a request's warnings for the client and annotations for the audit log. */
import type { Resource } from "../objects/registry.ts";
import type { Answer } from "./answer.ts";
import type { HttpRequest } from "./http.ts";
import type { User } from "./user.ts";

/** Bound of the header size of a response. Repeated warnings are sent once, as upstream does. */
const WARNINGS_MAX = 256;
const ANNOTATIONS_MAX = 64;
const ANNOTATION_CHARS_MAX = 10_240;

const NONE: readonly string[] = [];

/** UIDs of the FlowSchema and priority level that admitted the request; empty where these are not stored. */
export interface FlowMark {
  readonly schemaUid: string;
  readonly levelUid: string;
}

type Client = Pick<HttpRequest, "signal" | "queueEntry">;

export class RequestNotes {
  /** Sent in the headers of every response. */
  flow: FlowMark | undefined;
  /** The impersonated user. Set for stages that run before impersonation is resolved. */
  impersonated: User | undefined;
  /** Verb of constrained impersonation that allowed the request. */
  impersonationConstraint: string | undefined;
  /** The request's audit ID in logs. An in-process request has one only there. */
  auditId: string | undefined;
  /** True once the user is authenticated. */
  isKnown = false;
  /** Receives the answer before its form is chosen. Set where an audit log records responses. */
  onAnswer: ((answer: Answer, resource: Resource) => void) | undefined;
  #onBegun: (() => void) | undefined;
  #warnings: Set<string> | undefined;
  #annotations: Map<string, string> | undefined;
  #decision: "" | "allow" | "forbid" = "";
  #reason = "";
  readonly #client: Client | undefined;

  /** `client` creates its signal on first access. */
  constructor(client?: Client) {
    this.#client = client;
  }

  /**
   * Aborted when the client disconnects, so that calls to other servers for it end too. Undefined for in-process
   * requests.
   */
  get signal(): AbortSignal | undefined {
    return this.#client?.signal;
  }

  /** Names of the queues that count the request while it waits. Undefined for in-process requests. */
  get share(): readonly string[] | undefined {
    return this.#client?.queueEntry?.share;
  }

  get warnings(): readonly string[] {
    return this.#warnings === undefined ? NONE : [...this.#warnings];
  }

  get annotations(): ReadonlyMap<string, string> {
    if (this.#decision === "") return this.#annotations ?? new Map();
    const access = [
      ["authorization.k8s.io/decision", this.#decision],
      ["authorization.k8s.io/reason", this.#reason],
    ] as const;
    return new Map([...access, ...(this.#annotations ?? [])]);
  }

  /** Adds a warning to the response, also to an error response. */
  warn(text: string): void {
    this.#warnings ??= new Set();
    if (this.#warnings.size < WARNINGS_MAX) this.#warnings.add(text);
  }

  warnAll(texts: readonly string[]): void {
    for (const text of texts) this.warn(text);
  }

  /** The first value of a key wins. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map();
    if (this.#annotations.size >= ANNOTATIONS_MAX || this.#annotations.has(key)) return;
    this.#annotations.set(key, value.slice(0, ANNOTATION_CHARS_MAX));
  }

  /**
   * Records the decision and its reason; the last call wins. Every request calls this, so the annotations are built
   * only when read.
   */
  noteAccess(decision: "allow" | "forbid", reason: string): void {
    this.#decision = decision;
    this.#reason = reason;
  }

  /** The step runs once the watch has sent its initial events, or has ended. */
  whenBegun(step: () => void): void {
    this.#onBegun = step;
  }

  begun(): void {
    this.#onBegun?.();
    this.#onBegun = undefined;
  }
}
