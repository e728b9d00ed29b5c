/** Validates tolerations of a pod. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { Toleration } from "../../api/generated/types/core-v1.ts";
import { labelValue, qualifiedName } from "../../api/values/names.ts";
import { checkChoice } from "../rules/value-rules.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const OPERATORS = ["Equal", "Exists", "Lt", "Gt"];

export function checkTolerations(
  tolerations: readonly Toleration[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  for (const [i, toleration] of tolerations.entries()) {
    const { key = "", operator, effect, tolerationSeconds } = toleration;
    const at = path.index(i);
    if (key !== "") errors.invalidFor(at.child("key"), key, qualifiedName(key));
    if (key === "" && operator !== "Exists") {
      const problem =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(at.child("operator"), operator ?? "", problem);
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      const problem = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(at.child("effect"), effect ?? "", problem);
    }
    checkOperator(toleration, at, errors);
    checkChoice({ path: at.child("effect"), value: effect, among: EFFECTS }, errors);
  }
}

function checkOperator({ operator, value = "" }: Toleration, path: FieldPath, errors: FieldErrors): void {
  const at = path.child("operator");
  switch (operator) {
    case undefined:
    case "Equal": {
      const problems = labelValue(value);
      if (problems.length > 0) errors.invalid(at, value, problems.join(";"));
      return;
    }
    case "Exists":
      if (value !== "") errors.invalid(at, value, "value must be empty when `operator` is 'Exists'");
      return;
    case "Gt":
    case "Lt":
      if (!/^(0|-?[1-9][0-9]{0,18})$/.test(value)) {
        errors.invalid(path.child("value"), value, "value must be a valid integer for numeric operators");
      }
      return;
    default:
      errors.notSupported(at, operator, OPERATORS);
  }
}

/** An update of a running pod may add tolerations and change their time, but remove none. */
export function checkAddedTolerations(
  { next, previous }: { readonly next: readonly Toleration[]; readonly previous: readonly Toleration[] },
  path: FieldPath,
  errors: FieldErrors,
): void {
  const kept = new Set(next.map(identity));
  if (!previous.every((old) => kept.has(identity(old)))) {
    return errors.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
  }
}

/** Text of a toleration without its time. Sets of texts make the check fast for thousands of tolerations. */
function identity({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);
}
