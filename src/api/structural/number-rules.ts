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

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** In which format the numbers of a schema are kept, if it says one that there is; only a sole type has one. */
export function numberFormat(types: readonly string[], format: string): string {
  const [type = ""] = types;
  return types.length === 1 && FORMATS[type]?.includes(format) === true ? format : "";
}

/** Whether what holds numbers of that type and format cannot hold this one. */
export function isOutOfRange(types: readonly string[], format: string, value: number | bigint): boolean {
  const [type] = types;
  if (types.length !== 1) return false;
  if (type === "number") return format === "float" && !Number.isFinite(Math.fround(Number(value)));
  if (type !== "integer") return false;
  if (typeof value === "number" && !Number.isInteger(value)) return true;
  const limit = format === "int32" ? 2 ** 31 : 2 ** 63;
  return value < -limit || value >= limit;
}
