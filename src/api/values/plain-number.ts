/**
 * A whole number of the API to be reckoned with. Beyond 2^53 it is a bigint, so that it stays what was sent, and cannot be added to anything: here
 * it is the largest that is exact, which is more seconds, or copies, than anybody means.
 */
export function plainNumber(value: number | bigint): number {
  return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
