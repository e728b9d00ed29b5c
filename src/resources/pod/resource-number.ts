/** Amounts of resources as plain numbers, for sums that are made far too often for exact arithmetic on texts. */

import { parseQuantity, quantityMilliValue, quantityValue } from "../../api/values/quantity.ts";

/** Beyond this a sum of two would no longer be exact. */
const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;

/** The texts in use are few; whoever sends many different ones costs no more than this. */
const KNOWN_MAX = 4096;

const knownMillis = new Map<string, number>();
const knownWholes = new Map<string, number>();

/** Thousandths of cores for `cpu`, whole units (bytes, devices) for everything else; never negative, never above 2^53. */
export function resourceNumber(resource: string, text: string): number {
  return resource === "cpu" ? read(text, knownMillis, quantityMilliValue) : wholeNumber(text);
}

/** Bytes, for instance. */
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

/** A text that is no quantity asks for nothing: a server lets none through. */
function parse(text: string, valueIn: Unit): number {
  try {
    return Math.min(AMOUNT_MAX, Math.max(0, Number(valueIn(parseQuantity(text)))));
  } catch (error) {
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
}
