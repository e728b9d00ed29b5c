/** Resource amounts as plain numbers, for frequent sums where exact arithmetic on texts is too slow. */

import { parseQuantity, quantityMilliValue, quantityValue } from "../../api/values/quantity.ts";

/** A sum of larger numbers would not be exact. */
const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;

/** Upper bound of the cache, which protects memory from clients that send many different texts. */
const KNOWN_MAX = 4096;

const knownMillis = new Map<string, number>();
const knownWholes = new Map<string, number>();

/** Thousandths of cores for `cpu`, whole units (bytes, devices) otherwise; from 0 to 2^53. */
export function resourceNumber(resource: string, text: string): number {
  return resource === "cpu" ? read(text, knownMillis, quantityMilliValue) : wholeNumber(text);
}

/** Whole units, bytes for example. */
export function wholeNumber(text: string): number {
  return read(text, knownWholes, quantityValue);
}

type Unit = typeof quantityValue;

function read(text: string, known: Map<string, number>, valueIn: Unit): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  const amount = parse(text, valueIn);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, amount);
  return amount;
}

/** An invalid quantity counts as zero; the server stores none. */
function parse(text: string, valueIn: Unit): number {
  try {
    return Math.min(AMOUNT_MAX, Math.max(0, Number(valueIn(parseQuantity(text)))));
  } catch (error) {
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
}
