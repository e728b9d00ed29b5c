import { ExactJsonReader } from "../../api/json/json-exact.ts";

/** Finds numbers that a double may not hold. A false match within a string only costs time. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/**
 * Like JSON.parse, but integers beyond 2^53 stay exact, as bigint. Throws a SyntaxError for invalid JSON; its message
 * does not show the text, which may be a secret and end up in a log.
 */
export function jsonValue(text: string): unknown {
  const value = parsed(text);
  return LONG_NUMBER.test(text) ? new ExactJsonReader(text, "value").read().value : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("the server sent invalid JSON");
  }
}
