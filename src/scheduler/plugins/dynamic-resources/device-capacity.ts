/** Computes the capacity that a request takes of a device, rounded up as the device's policy demands. */

import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  Device,
  DeviceCapacity,
} from "../../../api/generated/types/resource-v1.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../api/values/quantity.ts";
import { ownValue } from "../../../resources/rules/value-rules.ts";

/** Sums by capacity name, in billionths. */
export type CapacitySums = ReadonlyMap<string, bigint>;

/** Undefined if the device lacks a requested capacity or does not offer the amount. */
export function consumedCapacity(
  { capacity = {} }: Device,
  requests: Readonly<Record<string, string>>,
): ReadonlyMap<string, Quantity> | undefined {
  for (const name of Object.keys(requests)) if (ownValue(capacity, name) === undefined) return undefined;
  const consumed = new Map<string, Quantity>();
  for (const [name, offered] of Object.entries(capacity)) {
    const amount = amountOf(offered, ownValue(requests, name));
    if (amount === undefined) return undefined;
    consumed.set(name, amount);
  }
  return consumed;
}

/** True if the device has enough capacity beside all the sums in `taken`. */
export function hasCapacityLeft(
  { capacity = {} }: Device,
  consumed: ReadonlyMap<string, Quantity>,
  taken: readonly (CapacitySums | undefined)[],
): boolean {
  return [...consumed].every(([name, { nano }]) => {
    const sum = taken.reduce((all, sums) => all + (sums?.get(name) ?? 0n), nano);
    return sum <= parseQuantity(ownValue(capacity, name)?.value ?? "0").nano;
  });
}

function amountOf(
  { value, requestPolicy: policy }: DeviceCapacity,
  asked: string | undefined,
): Quantity | undefined {
  if (asked === undefined) return parseQuantity(policy?.default ?? value);
  const wanted = parseQuantity(asked);
  if (policy === undefined) return wanted;
  const amount = roundedUp(wanted, policy);
  return isAllowed(amount, policy) ? amount : undefined;
}

function roundedUp(wanted: Quantity, { validRange, validValues = [] }: CapacityRequestPolicy): Quantity {
  if (validRange?.min !== undefined) return roundedInRange(wanted, validRange);
  const next = validValues.map(parseQuantity).find((value) => compareQuantities(wanted, value) <= 0);
  return next ?? wanted;
}

function roundedInRange(wanted: Quantity, { min = "0", step }: CapacityRequestPolicyRange): Quantity {
  const least = parseQuantity(min);
  if (compareQuantities(wanted, least) <= 0) return least;
  if (step === undefined) return wanted;
  const { nano } = parseQuantity(step);
  const steps = nano === 0n ? 0n : (wanted.nano - least.nano + nano - 1n) / nano;
  return { nano: least.nano + steps * nano, format: "BinarySI" };
}

function isAllowed(amount: Quantity, policy: CapacityRequestPolicy): boolean {
  const { validRange, validValues = [] } = policy;
  const isSame = (text: string): boolean => compareQuantities(parseQuantity(text), amount) === 0;
  if (isSame(policy.default)) return true;
  if (validRange?.max !== undefined) return compareQuantities(amount, parseQuantity(validRange.max)) <= 0;
  return validValues.length === 0 || validValues.some(isSame);
}
