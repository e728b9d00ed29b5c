/** Reads the JSON of stored values: what many objects have alike is found by its text. */
import { parseStored } from "../../../api/apply/stored-sets.ts";
import { checkJsonBounds, parseJson } from "../../../api/json/json-scan.ts";
import { parseWithSpec } from "../caches/stored-specs.ts";

/** Where an integer beyond 2^53 may be. */
const LONG_NUMBER = /\d{16}/;

/** The value that this server or another one checked before it was stored. Throws a SyntaxError for what is not JSON. */
export function readStoredJson(bytes: Buffer): unknown {
  return parseWithSpec(bytes, (text) => parseStored(text, parseExactly));
}

/** The same for a value of any origin. Throws a SyntaxError, or a RangeError for what is nested too deep or has too many tokens. */
export function readForeignJson(bytes: Buffer): unknown {
  const { hasUnusualNumber } = checkJsonBounds(bytes);
  return hasUnusualNumber ? parseJson(bytes).value : readStoredJson(bytes);
}

function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseJson(Buffer.from(text)).value : JSON.parse(text);
}
