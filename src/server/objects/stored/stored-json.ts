/** Parses stored JSON; specs that many objects share are found by their text. */
import { parseStored } from "../../../api/apply/stored-sets.ts";
import { checkJsonBounds, parseJson } from "../../../api/json/json-scan.ts";
import { parseWithSpec } from "../caches/stored-specs.ts";

/** Matches where an integer beyond 2^53 may be. */
const LONG_NUMBER = /\d{16}/;

/** Parses a value that an API server has validated before storing it. Throws a SyntaxError for malformed JSON. */
export function readStoredJson(bytes: Buffer): unknown {
  return parseWithSpec(bytes, (text) => parseStored(text, parseExactly));
}

/** Parses a value of any origin. Throws a SyntaxError, or a RangeError for excessive depth or too many tokens. */
export function readForeignJson(bytes: Buffer): unknown {
  const { hasUnusualNumber } = checkJsonBounds(bytes);
  return hasUnusualNumber ? parseJson(bytes).value : readStoredJson(bytes);
}

function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseJson(Buffer.from(text)).value : JSON.parse(text);
}
