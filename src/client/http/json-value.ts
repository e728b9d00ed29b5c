import { ExactJsonReader } from "../../api/json-exact.ts";

/** Where a number may begin that a double cannot hold. In a string it does no harm: the slower reader is as right as the other. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/** As JSON.parse, but integers beyond 2^53 come out exact, as bigint. Throws a SyntaxError for what is no JSON. */
export function jsonValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return LONG_NUMBER.test(text) ? new ExactJsonReader(text, "value").read().value : value;
}
