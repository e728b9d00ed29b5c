/** Unsigned 64-bit arithmetic as in Go's cost estimates: results that are too large saturate. */

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

/** The product in double precision, rounded up. */
export function multiplyByFactor(value: bigint, factor: number): bigint {
  return ceilOf(Number(value) * factor);
}

/** The quotient in double precision, rounded up. */
export function divideUp(value: bigint, divisor: bigint): bigint {
  return ceilOf(Number(value) / Number(divisor));
}

function ceilOf(value: number): bigint {
  const ceil = Math.ceil(value);
  return ceil >= TWO_TO_64 ? UINT64_MAX : BigInt(ceil);
}

/** The lowest 64 bits, for places where Go's estimates overflow without a guard. */
export function wrapUint64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
