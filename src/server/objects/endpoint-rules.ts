/** Contract of a subresource that writes a part of its object by its own rules. */
import type { FieldPattern } from "../../api/apply/fields/field-pattern.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { ApiObject, Draft, RuleContext } from "../../resources/rules/kind-rules.ts";

/** A subresource that takes the whole object and writes a part of it, such as pods/resize. */
export interface EndpointRules<T extends ApiObject = ApiObject> {
  /** Reverts fields that this endpoint does not write, and sets fields that the server decides. */
  prepare(draft: Draft<T>, previous: T, context: RuleContext): void;
  validate(next: T, previous: T, errors: FieldErrors): void;
  /** The fields that the endpoint writes; an apply through it owns no others. */
  readonly writes?: FieldPattern;
}
