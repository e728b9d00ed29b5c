/** Bounds on the length of a string, or on the number of items of a list or map. */
import { TEXT_FACTOR } from "./cost-unit.ts";
import { addSaturating, multiplyByFactor, multiplySaturating, UINT64_MAX } from "./uint64.ts";

export interface SizeRange {
  readonly min: bigint;
  readonly max: bigint;
}

export const UNKNOWN_SIZE: SizeRange = { min: 0n, max: UINT64_MAX };
/** Neutral element of a union. */
export const NO_SIZE: SizeRange = { min: UINT64_MAX, max: 0n };

export function fixedSize(size: bigint | number): SizeRange {
  const value = BigInt(size);
  return { min: value, max: value };
}

export function addSizes(one: SizeRange, other: SizeRange): SizeRange {
  return { min: addSaturating(one.min, other.min), max: addSaturating(one.max, other.max) };
}

export function multiplySizes(one: SizeRange, other: SizeRange): SizeRange {
  return { min: multiplySaturating(one.min, other.min), max: multiplySaturating(one.max, other.max) };
}

export function unionOfSizes(one: SizeRange, other: SizeRange): SizeRange {
  return {
    min: one.min < other.min ? one.min : other.min,
    max: one.max > other.max ? one.max : other.max,
  };
}

/** Cost of one traversal of a string of this size. */
export function textCost({ max }: SizeRange): bigint {
  return multiplyByFactor(max, TEXT_FACTOR);
}
