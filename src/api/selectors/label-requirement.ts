/**
 * One requirement of a label selector, and the test of labels against it. Members inherited from Object, such as
 * `constructor`, do not count as labels, because they are not strings.
 */

/** Operators of the query syntax; `exists` and `!` take no value, `gt` and `lt` compare integers. */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/** A condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Values to compare with; any number for `in` and `notin`, none for `exists` and `!`, otherwise one. */
  readonly values: readonly string[];
}

/** Labels of an object, as in `metadata.labels`. */
export type Labels = Readonly<Record<string, string>>;

export function requirementHolds(requirement: LabelRequirement, labels: Labels): boolean {
  const { key, operator } = requirement;
  const value: unknown = labels[key];
  if (typeof value === "string") return valueHolds(requirement, value);
  return operator === "!" || operator === "!=" || operator === "notin";
}

function valueHolds({ operator, values }: LabelRequirement, value: string): boolean {
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return values.includes(value);
    case "!=":
    case "notin":
      return !values.includes(value);
    case "exists":
      return true;
    case "!":
      return false;
    case "gt":
    case "lt":
      return compares(operator, value, values.join());
  }
}

/** False unless both are integers. */
function compares(operator: "gt" | "lt", value: string, bound: string): boolean {
  const left = findInteger(value);
  const right = findInteger(bound);
  if (left === undefined || right === undefined) return false;
  return operator === "gt" ? left > right : left < right;
}

/** Parses a decimal int64 as Go does. */
export function findInteger(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
