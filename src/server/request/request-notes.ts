/** What is noted about a request while it is worked on: warnings for its client, annotations for the audit log. */
import type { Resource } from "../objects/registry.ts";
import type { Answer } from "./answer.ts";
import type { HttpRequest } from "./http.ts";
import type { User } from "./user.ts";

/** More than that do not fit into the head of an answer. As upstream, what is said twice is said once. */
const WARNINGS_MAX = 256;
const ANNOTATIONS_MAX = 64;
const ANNOTATION_CHARS_MAX = 10_240;

const NONE: readonly string[] = [];

/** By which FlowSchema, and at which priority level, a request was taken in; empty where these are not stored. */
export interface FlowMark {
  readonly schemaUid: string;
  readonly levelUid: string;
}

type Client = Pick<HttpRequest, "signal" | "turn">;

export class RequestNotes {
  /** Every answer says it in its head. */
  flow: FlowMark | undefined;
  /** As whom the request is made, where that is not who makes it. Told to stages that come before that is known. */
  impersonated: User | undefined;
  /** The verb of the constrained mode that allowed it. */
  impersonationConstraint: string | undefined;
  /** Under which the request is found again in logs. Those within the process have one only there. */
  auditId: string | undefined;
  /** That it was found out who makes it. */
  isKnown = false;
  /** Told of the answer before its form is chosen, where somebody writes it down. */
  onAnswer: ((answer: Answer, resource: Resource) => void) | undefined;
  #onBegun: (() => void) | undefined;
  #warnings: Set<string> | undefined;
  #annotations: Map<string, string> | undefined;
  #decision: "" | "allow" | "forbid" = "";
  #reason = "";
  readonly #client: Client | undefined;

  /** `client` makes its signal when it is first asked for. */
  constructor(client?: Client) {
    this.#client = client;
  }

  /** Aborted when the client has left: nobody waits for what others are asked on its behalf. Undefined where there is no client. */
  get signal(): AbortSignal | undefined {
    return this.#client?.signal;
  }

  /** Under which queues count what the request waits for. Undefined for requests within the process. */
  get share(): readonly string[] | undefined {
    return this.#client?.turn?.share;
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

  /** Told with the answer, whatever that is: also somebody who is refused wants to hear of it. */
  warn(text: string): void {
    this.#warnings ??= new Set();
    if (this.#warnings.size < WARNINGS_MAX) this.#warnings.add(text);
  }

  warnAll(texts: readonly string[]): void {
    for (const text of texts) this.warn(text);
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.#annotations ??= new Map();
    if (this.#annotations.size >= ANNOTATIONS_MAX || this.#annotations.has(key)) return;
    this.#annotations.set(key, value.slice(0, ANNOTATION_CHARS_MAX));
  }

  /** Whether the request was allowed, and why. Every request says so, and few are asked: it costs nothing until then. The last one counts. */
  noteAccess(decision: "allow" | "forbid", reason: string): void {
    this.#decision = decision;
    this.#reason = reason;
  }

  /** Called once a watch has shown what was there before it, or has ended. */
  whenBegun(step: () => void): void {
    this.#onBegun = step;
  }

  begun(): void {
    this.#onBegun?.();
    this.#onBegun = undefined;
  }
}
