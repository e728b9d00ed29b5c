/** Arithmetic on unsigned 64-bit integers as Go's estimates of cost do it: a result that is too large is the largest. */

export const UINT64_MAX = 2n ** 64n - 1n;
const TWO_TO_64 = 2 ** 64;

export function addSaturating(one: bigint, other: bigint): bigint {
  const sum = one + other;
  return sum > UINT64_MAX ? UINT64_MAX : sum;
}

export function multiplySaturating(one: bigint, other: bigint): bigint {
  const product = one * other;
  return product > UINT64_MAX ? UINT64_MAX : product;
}

/** Rounded up after a multiplication of doubles, so with a double's precision. */
export function multiplyByFactor(value: bigint, factor: number): bigint {
  return ceilOf(Number(value) * factor);
}

/** The quotient of doubles, rounded up. */
export function divideUp(value: bigint, divisor: bigint): bigint {
  return ceilOf(Number(value) / Number(divisor));
}

function ceilOf(value: number): bigint {
  const ceil = Math.ceil(value);
  return ceil >= TWO_TO_64 ? UINT64_MAX : BigInt(ceil);
}

/** The lowest 64 bits, where Go's arithmetic is not guarded against an overflow. */
export function wrapUint64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
