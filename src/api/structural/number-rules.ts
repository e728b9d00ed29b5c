/** Bounds of numbers, exact for integers beyond 2^53 too. */
import type { ValueRules } from "./structural.ts";

type Bounds = Pick<ValueRules, "minimum" | "maximum" | "isAboveMinimum" | "isBelowMaximum" | "multipleOf">;

export function isTooLarge({ maximum, isBelowMaximum }: Bounds, value: number | bigint): boolean {
  if (maximum === undefined) return false;
  return isBelowMaximum ? value >= maximum : value > maximum;
}

export function isTooSmall({ minimum, isAboveMinimum }: Bounds, value: number | bigint): boolean {
  if (minimum === undefined) return false;
  return isAboveMinimum ? value <= minimum : value < minimum;
}

/** Whether it is no multiple of what it must be one of. */
export function isUneven({ multipleOf }: Bounds, value: number | bigint): boolean {
  if (multipleOf === undefined || multipleOf === 0) return false;
  if (typeof value === "bigint" && Number.isInteger(multipleOf)) return value % BigInt(multipleOf) !== 0n;
  return !Number.isInteger(Number(value) / multipleOf);
}
