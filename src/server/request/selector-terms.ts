/** Parses selectors for authorization. A malformed selector yields undefined: the handler that uses it refuses it. */
import type { FieldTerm } from "../../api/selectors/field-selector.ts";
import { parseFieldSelector } from "../../api/selectors/field-selector.ts";
import { parseLabelSelector } from "../../api/selectors/label-query.ts";
import type { LabelRequirement } from "../../api/selectors/label-requirement.ts";

/** Undefined for a malformed selector. */
export function fieldTerms(selector: string): readonly FieldTerm[] | undefined {
  return readable(() => parseFieldSelector(selector).terms);
}

/** Undefined for a malformed selector. */
export function labelTerms(selector: string): readonly LabelRequirement[] | undefined {
  return readable(() => parseLabelSelector(selector).requirements);
}

/** Value that the selector requires of the field. */
export function exactField(selector: string, field: string): string | undefined {
  if (!selector.includes(field)) return undefined;
  return fieldTerms(selector)?.find((term) => term.field === field && term.operator === "=")?.value;
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
