/**
 * Validates the conditions of a device that pods wait for before they are bound: those for readiness and
 * those for failure.
 */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { qualifiedName } from "../../api/values/names.ts";
import { checkList } from "./list-rules.ts";

const CONDITIONS_MAX = 4;

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

export function checkBindingConditions(
  { bindingConditions: awaited = [], bindingFailureConditions: failures = [] }: BindingConditions,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkNames(awaited, path.child("bindingConditions"), errors);
  checkNames(failures, path.child("bindingFailureConditions"), errors);
  const known = new Set(awaited);
  for (const [i, name] of failures.entries()) {
    if (!known.has(name)) continue;
    const at = path.child("bindingFailureConditions").index(i);
    errors.invalid(at, name, "bindingFailureConditions must not overlap with bindingConditions");
  }
  if (awaited.length === 0 && failures.length > 0) {
    const detail = "bindingConditions are required to use bindingFailureConditions";
    errors.invalid(path.child("bindingConditions"), undefined, detail);
  }
  if (failures.length === 0 && awaited.length > 0) {
    const detail = "bindingFailureConditions are required to use bindingConditions";
    errors.invalid(path.child("bindingFailureConditions"), undefined, detail);
  }
}

function checkNames(names: readonly string[], path: FieldPath, errors: FieldErrors): void {
  const check = (name: string, at: FieldPath): void => errors.invalidFor(at, name, qualifiedName(name));
  checkList(names, { path, max: CONDITIONS_MAX, check, keyOf: (name) => name }, errors);
}
