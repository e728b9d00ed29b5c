import { ExactJsonReader } from "../../api/json/json-exact.ts";

/** Where a number may begin that a double cannot hold. In a string it does no harm: the slower reader is as right as the other. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/**
 * As JSON.parse, but integers beyond 2^53 come out exact, as bigint. Throws a SyntaxError for what is no JSON, which shows nothing of it: it may be
 * a secret, and errors are logged.
 */
export function jsonValue(text: string): unknown {
  const value = parsed(text);
  return LONG_NUMBER.test(text) ? new ExactJsonReader(text, "value").read().value : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("what the server sent is no JSON");
  }
}
