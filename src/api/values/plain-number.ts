/**
 * Converts an integer of the API to a number for arithmetic. Integers beyond 2^53 are stored exactly as bigint, which
 * cannot be added to numbers. They are clamped to the safe integers here; no seconds or replica count in use is that
 * large.
 */
export function plainNumber(value: number | bigint): number {
  return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/**
 * A large integer as the generated types describe it. They say `number` for every integer of the API; a value beyond
 * 2^53 is a bigint all the same.
 */
export function apiInteger(value: bigint): number {
  // The one place where a bigint passes for the number of the generated types.
  return value as unknown as number;
}
