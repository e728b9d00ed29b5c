/** Collects the audit annotations of policies. */
import type { RequestNotes } from "../../request/request-notes.ts";
import type { Decision } from "./decision.ts";

/** Upstream's limit of a value. */
const VALUE_CHARS_MAX = 10 * 1024;
const FAILURE_KEY = "validation.policy.admission.k8s.io/validation_failure";

/** Annotations of one request. Values are collected, because several bindings may set different values for one key. */
export class AuditAnnotations {
  readonly #values = new Map<string, Set<string>>();

  add(policy: string, annotated: readonly (readonly [key: string, value: string])[]): void {
    for (const [name, value] of annotated) {
      const key = `${policy}/${name}`;
      const known = this.#values.get(key);
      const text = value.slice(0, VALUE_CHARS_MAX);
      if (known === undefined) this.#values.set(key, new Set([text]));
      else known.add(text);
    }
  }

  publish(notes: RequestNotes): void {
    for (const [key, values] of this.#values) notes.annotate(key, [...values].join(", "));
  }
}

interface Origin {
  readonly policy: string;
  readonly binding: string;
  readonly actions: readonly string[];
}

/** Annotates a failure in upstream's format. The audit log keeps only the first of several. */
export function noteFailure({ at, message }: Decision, origin: Origin, notes: RequestNotes): void {
  const { policy, binding, actions } = origin;
  const failure = { message, policy, binding, expressionIndex: at, validationActions: actions };
  notes.annotate(FAILURE_KEY, JSON.stringify([failure]));
}
