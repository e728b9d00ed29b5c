/** The contract of a subresource that writes a part of its object by rules of its own. */
import type { FieldPattern } from "../../api/apply/fields/field-pattern.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { ApiObject, Draft, RuleContext } from "../../resources/rules/kind-rules.ts";

/** A subresource that takes the whole object and writes some of it (pods/resize). */
export interface EndpointRules<T extends ApiObject = ApiObject> {
  /** Puts back whatever this endpoint does not write, and sets what the server decides. */
  prepare(draft: Draft<T>, previous: T, context: RuleContext): void;
  validate(next: T, previous: T, errors: FieldErrors): void;
  /** All that it writes; who applies by way of it owns nothing else. */
  readonly writes?: FieldPattern;
}
