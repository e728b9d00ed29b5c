/** Validates taints of devices and tolerations of them. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { DeviceTaint, DeviceToleration } from "../../api/generated/types/resource-v1.ts";
import { labelValue, qualifiedName } from "../../api/values/names.ts";
import { timeText } from "../../api/values/time.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { checkChoice, checkRequiredChoice } from "../rules/value-rules.ts";

const EFFECTS = ["NoExecute", "NoSchedule", "None"];
const OPERATORS = ["Equal", "Exists"];

export function checkTaint(
  { key, value = "", effect }: DeviceTaint,
  path: FieldPath,
  errors: FieldErrors,
): void {
  errors.invalidFor(path.child("key"), key, qualifiedName(key));
  errors.invalidFor(path.child("value"), value, labelValue(value));
  checkRequiredChoice({ path: path.child("effect"), value: effect, among: EFFECTS }, errors);
}

export function checkToleration(
  { key = "", operator, value = "", effect }: DeviceToleration,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (key !== "") errors.invalidFor(path.child("key"), key, qualifiedName(key));
  checkRequiredChoice({ path: path.child("operator"), value: operator, among: OPERATORS }, errors);
  if (operator === "Exists" && value !== "") {
    errors.invalid(path.child("value"), value, "must be empty for operator `Exists`");
  }
  if (operator === "Equal") errors.invalidFor(path.child("value"), value, labelValue(value));
  checkChoice({ path: path.child("effect"), value: effect, among: EFFECTS }, errors);
}

/** The time from which `tolerationSeconds` count; the current time unless the client sets one. */
export function addTaintTime(taint: Draft<DeviceTaint>, now: number): void {
  taint.timeAdded ??= timeText(now);
}
