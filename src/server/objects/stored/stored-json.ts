/**
 * Parses stored JSON. A spec that other objects have too is found by its text instead of being parsed: the object gets
 * the frozen spec of the cache, with all results cached for it.
 */
import { parseStored } from "../../../api/apply/stored-sets.ts";
import { freezeJson } from "../../../api/json/json-freeze.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { checkJsonBounds, parseJson } from "../../../api/json/json-scan.ts";
import { shareParts } from "../../../api/json/json-share.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { spanOf } from "../../../base/collections/text-cache.ts";
import type { TextSpan } from "../../../base/collections/text-cache.ts";
import { storedSpecs } from "../spec-cache.ts";

/** Matches where an integer beyond 2^53 may be. */
const LONG_NUMBER = /\d{16}/;

/** Below this length a lookup of a spec costs as much as parsing. */
const SPEC_BYTES_MIN = 256;

/**
 * Text before and after a spec in normal form. Quotes inside strings are escaped, so these texts match only real
 * keys.
 */
const BEFORE_SPEC = Buffer.from('},"spec":');
const AFTER_SPEC = Buffer.from(',"status":{');

/** Placeholder for a spec while the rest is parsed. Stored numbers are never written as -0, so it is unambiguous. */
const PLACEHOLDER = "-0";

/** Parses a value of any origin. Throws a SyntaxError, or a RangeError for excessive depth or too many tokens. */
export function readForeignJson(bytes: Buffer): unknown {
  const { hasUnusualNumber } = checkJsonBounds(bytes);
  return hasUnusualNumber ? parseJson(bytes).value : readStoredJson(bytes);
}

/** Parses a value that an API server has validated before storing it. Throws a SyntaxError for malformed JSON. */
export function readStoredJson(bytes: Buffer): unknown {
  const span = findSpec(bytes);
  if (span === undefined) return parse(bytes.toString());
  const known = storedSpecs.find(span);
  if (known === undefined) return withKeptSpec(parse(bytes.toString()), span);
  const before = bytes.toString("utf8", 0, span.start);
  const rest = parse(`${before}${PLACEHOLDER}${bytes.toString("utf8", span.end)}`);
  return withSpec(rest, known) ?? parse(bytes.toString());
}

/** Lets later reads find a frozen spec by its stored text. */
export function keepSpec(text: string, spec: JsonObject): void {
  if (text.length >= SPEC_BYTES_MIN) storedSpecs.keep(spanOf(text), spec);
}

/** Location of a spec long enough for a lookup; undefined if there is none, or the text has another form. */
export function findSpec(bytes: Buffer): TextSpan | undefined {
  const before = bytes.indexOf(BEFORE_SPEC);
  if (before < 0) return undefined;
  const start = before + BEFORE_SPEC.length;
  const end = bytes.lastIndexOf(AFTER_SPEC);
  return end - start < SPEC_BYTES_MIN ? undefined : { bytes, start, end };
}

/** Puts the spec in the place of the placeholder. Undefined if the text found was not the object's spec. */
function withSpec(rest: unknown, spec: JsonObject): unknown {
  if (!isJsonObject(rest) || !Object.is(rest["spec"], -0)) return undefined;
  (rest as Record<string, unknown>)["spec"] = spec;
  return rest;
}

/** The newest spec that was read. Objects with similar specs are read one after the other: the pods of a ReplicaSet. */
let newest: JsonObject = {};

/** Shares the parts that are equal in the spec read before: often only the node differs. Caches a spec that recurs. */
function withKeptSpec(object: unknown, span: TextSpan): unknown {
  const read = isJsonObject(object) ? object["spec"] : undefined;
  if (!isJsonObject(read)) return object;
  const spec = shareParts(read, newest);
  newest = spec;
  (object as Record<string, unknown>)["spec"] = spec;
  if (!storedSpecs.recurs(span)) return object;
  const { bytes, start, end } = span;
  if (stringifyJson(spec) === bytes.toString("utf8", start, end)) storedSpecs.keep(span, freezeJson(spec));
  return object;
}

function parse(text: string): unknown {
  return parseStored(text, parseExactly);
}

function parseExactly(text: string): unknown {
  return LONG_NUMBER.test(text) ? parseJson(Buffer.from(text)).value : JSON.parse(text);
}
