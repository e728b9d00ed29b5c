/** Quantities as `1Gi` and versions as `1.2.3-rc.1`. */
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityToNumber,
  quantityValue,
  subtractQuantities,
} from "../../quantity.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

const NANO = 1_000_000_000n;

function findQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function quantity(value: Quantity): CelValue {
  return new Opaque("kubernetes.Quantity", value, String(value.nano));
}

function parse(text: string): CelValue {
  try {
    return quantity(parseQuantity(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CelEvaluationError(error.message);
  }
}

function quantityOf(value: CelValue): Quantity {
  return (value as Opaque<Quantity>).content;
}

function isInteger({ nano }: Quantity): boolean {
  const whole = nano / NANO;
  return nano % NANO === 0n && BigInt.asIntN(64, whole) === whole;
}

function asInteger(value: Quantity): bigint {
  if (!isInteger(value)) throw new CelEvaluationError("cannot convert value to integer");
  return quantityValue(value);
}

function ofInteger(value: CelValue): Quantity {
  return { nano: (value as bigint) * NANO, format: "DecimalSI" };
}

function signOf({ nano }: Quantity): bigint {
  return nano < 0n ? -1n : nano > 0n ? 1n : 0n;
}

const TYPE = "kubernetes.Quantity";

export const QUANTITIES: Library = [
  [`quantity(string): ${TYPE}`, ([text]) => parse(text as string)],
  ["isQuantity(string): bool", ([text]) => findQuantity(text as string) !== undefined],
  [`${TYPE} -> isInteger(): bool`, ([value]) => isInteger(quantityOf(value))],
  [`${TYPE} -> asInteger(): int`, ([value]) => asInteger(quantityOf(value))],
  [`${TYPE} -> asApproximateFloat(): double`, ([value]) => quantityToNumber(quantityOf(value))],
  // Called on nothing, unlike the others: so it is declared upstream.
  [`sign(${TYPE}): int`, ([value]) => signOf(quantityOf(value))],
  [
    `${TYPE} -> add(${TYPE}): ${TYPE}`,
    ([one, other]) => quantity(addQuantities(quantityOf(one), quantityOf(other))),
  ],
  [
    `${TYPE} -> add(int): ${TYPE}`,
    ([one, other]) => quantity(addQuantities(quantityOf(one), ofInteger(other))),
  ],
  [
    `${TYPE} -> sub(${TYPE}): ${TYPE}`,
    ([one, other]) => quantity(subtractQuantities(quantityOf(one), quantityOf(other))),
  ],
  [
    `${TYPE} -> sub(int): ${TYPE}`,
    ([one, other]) => quantity(subtractQuantities(quantityOf(one), ofInteger(other))),
  ],
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
