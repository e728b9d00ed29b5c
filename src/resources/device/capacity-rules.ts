/** Validates the capacities of a device, and the policies by which several requests share one capacity. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
} from "../../api/generated/types/resource-v1.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityValue,
} from "../../api/values/quantity.ts";
import { checkList } from "./list-rules.ts";

const VALUES_MAX = 10;
const INT64_MAX = 2n ** 63n - 1n;

interface Policy {
  /** Amount that the device has. */
  readonly capacity: string;
  /** Amount for a request that names none. */
  readonly standard: string;
  readonly path: FieldPath;
}

export function checkCapacity(
  { value, requestPolicy }: DeviceCapacity,
  { path, isShared }: { readonly path: FieldPath; readonly isShared: boolean },
  errors: FieldErrors,
): void {
  if (requestPolicy === undefined) return;
  const at = path.child("requestPolicy");
  if (isShared) checkPolicy(requestPolicy, { capacity: value, path: at }, errors);
  else errors.forbidden(at, "allowMultipleAllocations must be true");
}

function checkPolicy(
  policy: CapacityRequestPolicy,
  { capacity, path }: Omit<Policy, "standard">,
  errors: FieldErrors,
): void {
  const { validValues = [], validRange } = policy;
  // Optional in the API, although its generated type requires it.
  const { default: standard }: Partial<CapacityRequestPolicy> = policy;
  const used = validValues.length > 0 ? "validValues" : "validRange";
  if (validValues.length > 0 && validRange !== undefined) {
    const detail = `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`;
    errors.forbidden(path, detail);
    return;
  }
  if (validValues.length === 0 && validRange === undefined) return;
  if (standard === undefined) {
    errors.required(path.child("default"), `required when ${used} is defined`);
    return;
  }
  const place = { capacity, standard, path: path.child(used) };
  if (validRange === undefined) checkValues(validValues, place, errors);
  else checkRange(validRange, place, errors);
}

function checkValues(
  values: readonly string[],
  { capacity, standard, path }: Policy,
  errors: FieldErrors,
): void {
  for (const [i, value] of values.entries()) {
    if (isMore(values[i - 1] ?? value, value)) {
      errors.invalid(path.index(i), value, "values must be sorted in ascending order");
    }
  }
  const check = (value: string, at: FieldPath): void => {
    if (isMore(value, capacity))
      errors.invalid(at, value, `option is larger than capacity value: ${capacity}`);
  };
  const keyOf = (value: string): string => String(quantityValue(parseQuantity(value)));
  checkList(values, { path, max: VALUES_MAX, check, keyOf }, errors);
  const isLong = values.length > VALUES_MAX;
  if (isLong || !values.some((value) => !isMore(value, standard) && !isMore(standard, value))) {
    errors.invalid(path, standard, "default value is not valid according to the requestPolicy");
  }
}

function checkRange(range: CapacityRequestPolicyRange, policy: Policy, errors: FieldErrors): void {
  const { capacity, standard, path } = policy;
  const { min, max } = range;
  if (min === undefined) {
    errors.required(path.child("min"), "required when validRange is defined");
    return;
  }
  if (isMore(min, capacity)) {
    errors.invalid(path.child("min"), min, `min is larger than capacity value: ${capacity}`);
  }
  if (isMore(min, standard)) {
    errors.invalid(path.child("default"), standard, `default is less than min: ${min}`);
  }
  if (max !== undefined) {
    if (isMore(min, max)) errors.invalid(path.child("max"), min, `min is larger than max: ${max}`);
    if (isMore(max, capacity)) {
      errors.invalid(path.child("max"), max, `max is larger than capacity value: ${capacity}`);
    }
    if (isMore(standard, max)) {
      errors.invalid(path.child("default"), standard, `default is more than max: ${max}`);
    }
  }
  checkStep(range, policy, errors);
}

/** Valid requests are the minimum plus a multiple of the step. */
function checkStep(
  { min = "0", max, step }: CapacityRequestPolicyRange,
  { capacity, standard, path }: Policy,
  errors: FieldErrors,
): void {
  if (step === undefined) return;
  const at = path.child("step");
  if (!isMore(step, "0")) {
    errors.invalid(at, step, "must be greater than zero");
    return;
  }
  const next = formatQuantity(addQuantities(parseQuantity(min), parseQuantity(step)));
  if (isMore(next, capacity)) {
    errors.invalid(at, step, `one step ${next} is larger than capacity value: ${capacity}`);
  }
  const found = errors.count;
  for (const [name, value] of Object.entries({ default: standard, min, max, step })) {
    if (value !== undefined) checkWhole(value, path.child(name), errors);
  }
  if (errors.count > found) return;
  for (const value of max === undefined ? [standard] : [standard, max]) {
    const rest = (wholeOf(value) - wholeOf(min)) % wholeOf(step);
    if (rest === 0n) continue;
    errors.invalid(at, value, `value is not a multiple of a given step (${step}) from (${min})`);
  }
}

function checkWhole(value: string, path: FieldPath, errors: FieldErrors): void {
  if (isMore("0", value)) errors.invalid(path, value, "must be greater than or equal to 0");
  else if (wholeOf(value) > INT64_MAX) errors.invalid(path, value, `must not be larger than ${INT64_MAX}`);
}

function wholeOf(value: string): bigint {
  return quantityValue(parseQuantity(value));
}

function isMore(left: string, right: string): boolean {
  return compareQuantities(parseQuantity(left), parseQuantity(right)) > 0;
}
