/**
 * The parts of a selector that an index can answer: an object matches only if one of its attributes, a label or a field, has one of
 * the given values. Other parts (`!=`, `notin`, `!app`, `app`, `app>3`) match objects that no index lists together.
 */
import type { FieldSelector } from "../../../api/selectors/field-selector.ts";
import type { LabelSelector } from "../../../api/selectors/label-selector.ts";
import type { ApiObject, KindRules } from "../../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../registry.ts";

/** Label and field selector of a list, watch or deletecollection. */
export interface Selection {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** A label or field of the objects of one resource. */
export interface Attribute {
  /** Distinguishes the attributes of a resource. */
  readonly id: string;
  /** Undefined for an object without the attribute. */
  readonly valueOf: (object: ApiObject) => string | undefined;
}

/** Satisfied by the objects whose attribute has one of the values. */
export interface SelectionTerm {
  readonly attribute: Attribute;
  readonly values: readonly string[];
}

/** No terms for kinds with a conversion webhook, which may change labels, and no field terms for custom kinds. */
export function indexableTerms(
  { labels, fields }: Selection,
  { custom, rules }: Pick<StoredResource, "custom" | "rules">,
): readonly SelectionTerm[] {
  if (custom?.webhook !== undefined) return [];
  const terms: SelectionTerm[] = [];
  for (const { key, operator, values } of labels.requirements) {
    const isIndexable = operator === "=" || operator === "==" || operator === "in";
    if (isIndexable) terms.push({ attribute: labelAttribute(key), values });
  }
  if (custom !== undefined) return terms;
  for (const { field, operator, value } of fields.terms)
    if (operator === "=") terms.push({ attribute: fieldAttribute(field, rules), values: [value] });
  return terms;
}

function labelAttribute(key: string): Attribute {
  return {
    id: `label ${key}`,
    valueOf: ({ metadata: { labels } }) =>
      labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined,
  };
}

function fieldAttribute(field: string, rules: KindRules): Attribute {
  return { id: `field ${field}`, valueOf: (object) => fieldValue(object, field, rules) };
}

/** Value of a field as field selectors see it: empty for an absent field. */
export function fieldValue(object: ApiObject, field: string, rules: KindRules): string {
  if (field === "metadata.name") return object.metadata.name ?? "";
  if (field === "metadata.namespace") return object.metadata.namespace ?? "";
  return rules.fields?.(object)[field] ?? "";
}
