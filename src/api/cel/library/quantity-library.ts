/** CEL library of quantities such as `1Gi`. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityToNumber,
  type SmallAmount,
  smallAmountOf,
} from "../../values/quantity.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

const TYPE = "kubernetes.Quantity";
const NANO = 1_000_000_000n;

/** A quantity with its form in Go. Go reports integers only for small amounts. */
interface Held {
  readonly quantity: Quantity;
  readonly amount: SmallAmount | undefined;
}

function findQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function held(value: Held): CelValue {
  return new Opaque(TYPE, value, String(value.quantity.nano));
}

/** Value of a quantity, in the form that its canonical text has in Go. */
export function quantity(value: Quantity): CelValue {
  return held({ quantity: value, amount: smallAmountOf(formatQuantity(value)) });
}

function parse(text: string): CelValue {
  try {
    return held({ quantity: parseQuantity(text), amount: smallAmountOf(text) });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CelEvaluationError(error.message);
  }
}

function heldOf(value: CelValue): Held {
  return (value as Opaque<Held>).content;
}

function quantityOf(value: CelValue): Quantity {
  return heldOf(value).quantity;
}

/** Largest power of ten: a nonzero integer beyond it overflows 64 bits. */
const SCALE_MAX = 18;

function findInteger({ amount }: Held): bigint | undefined {
  if (amount === undefined || amount.scale < 0) return undefined;
  if (amount.value === 0n) return 0n;
  return amount.scale > SCALE_MAX ? undefined : fitting(amount.value * 10n ** BigInt(amount.scale));
}

function fitting(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function asInteger(value: Held): bigint {
  const found = findInteger(value);
  if (found === undefined) throw new CelEvaluationError("cannot convert value to integer");
  return found;
}

function ofInteger(value: CelValue): Held {
  const whole = value as bigint;
  return { quantity: { nano: whole * NANO, format: "DecimalSI" }, amount: { value: whole, scale: 0 } };
}

/** The sum in the smaller power of ten of the two. Returns `undefined` on 64-bit overflow: it is no small amount then. */
function sumOfAmounts({ amount: one }: Held, { amount: other }: Held): SmallAmount | undefined {
  if (one === undefined || other === undefined) return undefined;
  if (other.value === 0n) return one;
  if (one.value === 0n) return other;
  const scale = Math.min(one.scale, other.scale);
  if (Math.max(one.scale, other.scale) - scale > SCALE_MAX) return undefined;
  const [left, right] = [one, other].map((amount) =>
    fitting(amount.value * 10n ** BigInt(amount.scale - scale)),
  );
  const value = left === undefined || right === undefined ? undefined : fitting(left + right);
  return value === undefined ? undefined : { value, scale };
}

function sum(one: Held, other: Held): CelValue {
  return held({ quantity: addQuantities(one.quantity, other.quantity), amount: sumOfAmounts(one, other) });
}

function difference(one: Held, { quantity: subtrahend, amount }: Held): CelValue {
  const negated = amount === undefined ? undefined : { value: -amount.value, scale: amount.scale };
  return sum(one, { quantity: { nano: -subtrahend.nano, format: subtrahend.format }, amount: negated });
}

function signOf({ nano }: Quantity): bigint {
  return nano < 0n ? -1n : nano > 0n ? 1n : 0n;
}

export const QUANTITIES: Library = [
  [`quantity(string): ${TYPE}`, ([text]) => parse(text as string)],
  ["isQuantity(string): bool", ([text]) => findQuantity(text as string) !== undefined],
  [`${TYPE} -> isInteger(): bool`, ([value]) => findInteger(heldOf(value)) !== undefined],
  [`${TYPE} -> asInteger(): int`, ([value]) => asInteger(heldOf(value))],
  [`${TYPE} -> asApproximateFloat(): double`, ([value]) => quantityToNumber(quantityOf(value))],
  // A global function, unlike the others, as upstream declares it.
  [`sign(${TYPE}): int`, ([value]) => signOf(quantityOf(value))],
  [`${TYPE} -> add(${TYPE}): ${TYPE}`, ([one, other]) => sum(heldOf(one), heldOf(other))],
  [`${TYPE} -> add(int): ${TYPE}`, ([one, other]) => sum(heldOf(one), ofInteger(other))],
  [`${TYPE} -> sub(${TYPE}): ${TYPE}`, ([one, other]) => difference(heldOf(one), heldOf(other))],
  [`${TYPE} -> sub(int): ${TYPE}`, ([one, other]) => difference(heldOf(one), ofInteger(other))],
  [
    `${TYPE} -> isLessThan(${TYPE}): bool`,
    ([one, other]) => compareQuantities(quantityOf(one), quantityOf(other)) < 0,
  ],
  [
    `${TYPE} -> isGreaterThan(${TYPE}): bool`,
    ([one, other]) => compareQuantities(quantityOf(one), quantityOf(other)) > 0,
  ],
  [
    `${TYPE} -> compareTo(${TYPE}): int`,
    ([one, other]) => BigInt(Math.sign(compareQuantities(quantityOf(one), quantityOf(other)))),
  ],
];
