/** Validates node selectors of pods, volumes and devices. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from "../../api/generated/types/core-v1.ts";
import { dns1123Subdomain, labelValue, qualifiedName } from "../../api/values/names.ts";

export interface SelectorPlace {
  readonly path: FieldPath;
  /** Preferences may have values that are not valid label values. */
  readonly values: "strict" | "any";
}

export function checkNodeSelector(
  { nodeSelectorTerms: terms }: NodeSelector,
  { path, values }: SelectorPlace,
  errors: FieldErrors,
): void {
  const at = path.child("nodeSelectorTerms");
  if (terms.length === 0) errors.required(at, "must have at least one node selector term");
  for (const [i, term] of terms.entries()) checkNodeTerm(term, { path: at.index(i), values }, errors);
}

export function checkNodeTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { path, values }: SelectorPlace,
  errors: FieldErrors,
): void {
  for (const [i, it] of matchExpressions.entries()) {
    checkRequirement(it, { path: path.child("matchExpressions").index(i), values }, errors);
  }
  for (const [i, it] of matchFields.entries()) checkField(it, path.child("matchFields").index(i), errors);
}

/** Checks how many values each operator takes, with upstream's error texts. */
const VALUE_RULES: ReadonlyMap<string, (count: number, path: FieldPath, errors: FieldErrors) => void> =
  new Map([
    ["In", requireSome],
    ["NotIn", requireSome],
    ["Exists", requireNone],
    ["DoesNotExist", requireNone],
    ["Gt", requireOne],
    ["Lt", requireOne],
  ]);

function requireSome(count: number, path: FieldPath, errors: FieldErrors): void {
  if (count === 0) errors.required(path, "must be specified when `operator` is 'In' or 'NotIn'");
}

function requireNone(count: number, path: FieldPath, errors: FieldErrors): void {
  if (count > 0) errors.forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

function requireOne(count: number, path: FieldPath, errors: FieldErrors): void {
  if (count !== 1) errors.required(path, "must be specified single value when `operator` is 'Lt' or 'Gt'");
}

function checkRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  place: SelectorPlace,
  errors: FieldErrors,
): void {
  const { path } = place;
  const rule = VALUE_RULES.get(operator);
  if (rule === undefined) errors.invalid(path.child("operator"), operator, "not a valid selector operator");
  else rule(values.length, path.child("values"), errors);
  errors.invalidFor(path.child("key"), key, qualifiedName(key));
  if (place.values === "any") return;
  for (const [i, value] of values.entries()) {
    errors.invalidFor(path.child("values").index(i), value, labelValue(value));
  }
}

/** Field selectors accept only `metadata.name`, with one value. */
function checkField(it: NodeSelectorRequirement, path: FieldPath, errors: FieldErrors): void {
  const { key, operator, values = [] } = it;
  if (operator !== "In" && operator !== "NotIn") {
    errors.invalid(path.child("operator"), operator, "not a valid selector operator");
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required(path.child("values"), detail);
  }
  if (key !== "metadata.name") {
    errors.invalid(path.child("key"), key, "not a valid field selector key");
    return;
  }
  for (const [i, value] of values.entries()) {
    errors.invalidFor(path.child("values").index(i), value, dns1123Subdomain(value));
  }
}
