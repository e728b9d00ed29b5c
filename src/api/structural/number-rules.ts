/** Checks of numbers, exact for integers beyond 2^53 too. */
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

/** True when the value is not a multiple of `multipleOf`. */
export function isUneven({ multipleOf }: Bounds, value: number | bigint): boolean {
  if (multipleOf === undefined || multipleOf === 0) return false;
  if (typeof value === "bigint" && Number.isInteger(multipleOf)) return value % BigInt(multipleOf) !== 0n;
  return !Number.isInteger(Number(value) / multipleOf);
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** Known number format of a schema with a single type; otherwise empty. */
export function numberFormat(types: readonly string[], format: string): string {
  const [type = ""] = types;
  return types.length === 1 && FORMATS[type]?.includes(format) === true ? format : "";
}

/** True when the value is out of range for the type and format. */
export function isOutOfRange(types: readonly string[], format: string, value: number | bigint): boolean {
  const [type] = types;
  if (types.length !== 1) return false;
  if (type === "number") return format === "float" && !Number.isFinite(Math.fround(Number(value)));
  if (type !== "integer") return false;
  if (typeof value === "number" && !Number.isInteger(value)) return true;
  const limit = format === "int32" ? 2 ** 31 : 2 ** 63;
  return value < -limit || value >= limit;
}
