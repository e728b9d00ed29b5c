/**
 * Label selectors. The query syntax (`a=b,c in (d,e),!f`) and the LabelSelector object compile to one list of
 * requirements. Labels match if they meet all requirements.
 */

import type { FieldPath } from "../errors/field-error.ts";
import { FieldErrors, fieldErrorsText, fieldPath } from "../errors/field-error.ts";
import type {
  LabelSelector as LabelSelectorObject,
  LabelSelectorRequirement,
} from "../generated/types/meta-v1.ts";
import { labelValue, qualifiedName } from "../values/names.ts";
import { LabelIndex } from "./label-index.ts";
import { findInteger, requirementHolds } from "./label-requirement.ts";
import type { LabelOperator, LabelRequirement, Labels } from "./label-requirement.ts";

/**
 * A compiled selector. Labels match if they meet all requirements; without requirements, all labels match. Requirements
 * are sorted by key.
 */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** Index for long selectors, so that the cost of matching an object does not grow with the selector. */
  readonly index?: LabelIndex;
}

/** Number of requirements, or of values in one, up to which testing each is faster. */
const LONG = 16;

const EXPRESSION_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** Sorts by key. Requirements on one key keep their order. */
export function labelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  const sorted = [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const isLong = sorted.length > LONG || sorted.some(({ values }) => values.length > LONG);
  return isLong ? { requirements: sorted, index: new LabelIndex(sorted) } : { requirements: sorted };
}

/**
 * Compiles a valid LabelSelector object. An empty selector and `undefined` select everything; callers for which an
 * absent selector selects nothing check for it first. Throws a SyntaxError for an unknown operator.
 */
export function compileLabelSelector(selector: LabelSelectorObject | undefined): LabelSelector {
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: "=",
    values: [value],
  }));
  const expressions = (selector?.matchExpressions ?? []).map((expression): LabelRequirement => {
    const operator = EXPRESSION_OPERATORS.get(expression.operator);
    if (operator === undefined) {
      throw new SyntaxError(`"${expression.operator}" is not a valid label selector operator`);
    }
    return { key: expression.key, operator, values: expression.values ?? [] };
  });
  return labelSelector([...equal, ...expressions]);
}

const kept = new WeakMap<object, LabelSelector>();

/**
 * `compileLabelSelector` with a cache, for immutable selectors such as those in caches and the store. A selector is
 * compiled once, because it may be as long as a body and is matched against many objects.
 */
export function cachedLabelSelector(selector: LabelSelectorObject): LabelSelector {
  const { matchLabels, matchExpressions } = selector;
  // Some callers build a new selector around the same immutable labels for each call.
  const key = matchExpressions === undefined && matchLabels !== undefined ? matchLabels : selector;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const compiled = compileLabelSelector(selector);
  kept.set(key, compiled);
  return compiled;
}

/** True if the labels meet all requirements of the selector. Absent labels count as none. */
export function labelsMatch({ requirements, index }: LabelSelector, labels: Labels = {}): boolean {
  if (index !== undefined) return index.matches(labels);
  return requirements.every((requirement) => requirementHolds(requirement, labels));
}

/** The value that the selector requires of the label. Undefined if it allows several values or any. */
export function requiredLabelValue(selector: LabelSelector, key: string): string | undefined {
  const found = selector.requirements.find((requirement) => requirement.key === key);
  const isExact = found?.operator === "=" || found?.operator === "==" || found?.operator === "in";
  return isExact && found.values.length === 1 ? found.values[0] : undefined;
}

/** The equivalent label query. Equal selectors have equal texts. */
export function labelSelectorText(selector: LabelSelector): string {
  return selector.requirements.map(requirementText).join(",");
}

/** Validates a LabelSelector object by upstream's rules. */
export function validateLabelSelector(
  selector: LabelSelectorObject,
  path: FieldPath,
  errors: FieldErrors,
): void {
  validateLabels(selector.matchLabels ?? {}, path.child("matchLabels"), errors);
  for (const [i, expression] of (selector.matchExpressions ?? []).entries()) {
    validateExpression(expression, path.child("matchExpressions").index(i), errors);
  }
}

function validateExpression(
  expression: LabelSelectorRequirement,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (!EXPRESSION_OPERATORS.has(expression.operator)) {
    errors.invalid(path.child("operator"), expression.operator, "not a valid selector operator");
  }
  validateLabelRequirement(expression, path, errors);
}

/** Validates that an operator on labels or fields has the values it needs. An unknown operator may have any values. */
export function validateOperands(
  { operator, values = [] }: Pick<LabelSelectorRequirement, "operator" | "values">,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const isSet = operator === "In" || operator === "NotIn";
  if (!EXPRESSION_OPERATORS.has(operator)) return;
  if (isSet && values.length === 0) {
    errors.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (!isSet && values.length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    errors.forbidden(path.child("values"), detail);
  }
}

/** Validates a requirement except for its operator: a newer client may use operators this server does not know. */
export function validateLabelRequirement(
  requirement: LabelSelectorRequirement,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { key, values = [] } = requirement;
  validateOperands(requirement, path, errors);
  errors.invalidFor(path.child("key"), key, qualifiedName(key));
  for (const [i, value] of values.entries()) {
    errors.invalidFor(path.child("values").index(i), value, labelValue(value));
  }
}

export function validateLabels(labels: Labels, path: FieldPath, errors: FieldErrors): void {
  for (const key of Object.keys(labels)) {
    const value = labels[key] ?? "";
    errors.invalidFor(path, key, qualifiedName(key));
    errors.invalidFor(path, value, labelValue(value));
  }
}

/** Returns the requirement of a query if it is valid. Otherwise throws a SyntaxError with upstream's message. */
export function checkedRequirement(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors = new FieldErrors();
  const keyProblems = qualifiedName(key);
  if (keyProblems.length > 0) errors.invalid("key", key, keyProblems.join("; "));
  if (operator === "gt" || operator === "lt") {
    for (const [i, value] of values.entries()) {
      if (findInteger(value) !== undefined) continue;
      errors.invalid(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (const [i, value] of values.entries()) {
    const problems = labelValue(value);
    if (problems.length > 0)
      errors.invalid(fieldPath("values").index(i).key(key), value, problems.join("; "));
  }
  if (!errors.isEmpty) throw new SyntaxError(fieldErrorsText(errors.found));
  return requirement;
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort().join(",")})`;
    case "gt":
      return `${key}>${values.join("")}`;
    case "lt":
      return `${key}<${values.join("")}`;
    case "=":
    case "==":
    case "!=":
      return key + operator + values.join("");
  }
}
