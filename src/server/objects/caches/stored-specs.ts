/**
 * Parses stored objects without parsing specs that other objects have too. A frozen spec is found by its text
 * (shared-specs.ts creates them), together with all results cached for it.
 */
import { freezeJson } from "../../../api/json/json-freeze.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { RepeatedTexts, spanOf } from "./repeated-texts.ts";
import type { Span } from "./repeated-texts.ts";
import { shareParts } from "./shared-parts.ts";

/** Below this length a lookup costs as much as parsing. */
const SPEC_BYTES_MIN = 256;

/**
 * Text before and after a spec in normal form. Quotes inside strings are escaped, so these texts match only real
 * keys.
 */
const BEFORE = Buffer.from('},"spec":');
const BEHIND = Buffer.from(',"status":{');

/** Placeholder for a spec while the rest is parsed. Stored numbers are never written as -0, so it is unambiguous. */
const LEFT_OUT = "-0";

const specs = new RepeatedTexts<JsonObject>();

/** Callers pass each frozen spec when its text is first written. */
export function keepSpec(text: string, spec: JsonObject): void {
  if (text.length >= SPEC_BYTES_MIN) specs.keep(spanOf(text), spec);
}

/** Returns what `parse` returns for these bytes, possibly with a frozen spec. Throws the errors of `parse`. */
export function parseWithSpec(bytes: Buffer, parse: (text: string) => unknown): unknown {
  const span = findSpec(bytes);
  if (span === undefined) return parse(bytes.toString());
  const known = specs.find(span);
  if (known === undefined) return newlyRead(parse(bytes.toString()), span);
  const rest = `${bytes.toString("utf8", 0, span.start)}${LEFT_OUT}${bytes.toString("utf8", span.end)}`;
  return withSpec(parse(rest), known) ?? parse(bytes.toString());
}

/** Location of a spec long enough for a lookup; undefined if there is none, or the text has another form. */
export function findSpec(bytes: Buffer): Span | undefined {
  const before = bytes.indexOf(BEFORE);
  if (before < 0) return undefined;
  const start = before + BEFORE.length;
  const end = bytes.lastIndexOf(BEHIND);
  return end - start < SPEC_BYTES_MIN ? undefined : { bytes, start, end };
}

/** Undefined if the text found was not the spec. */
function withSpec(value: unknown, spec: JsonObject): unknown {
  if (!isJsonObject(value) || !Object.is(value["spec"], -0)) return undefined;
  (value as Record<string, unknown>)["spec"] = spec;
  return value;
}

/** The newest spec that was read. Objects with similar specs are read one after the other: the pods of a ReplicaSet. */
let newest: JsonObject = {};

/** Shares the parts that are equal in the spec read before: often only the node differs. Caches a spec on its second occurrence. */
function newlyRead(value: unknown, span: Span): unknown {
  const read = isJsonObject(value) ? value["spec"] : undefined;
  if (!isJsonObject(read)) return value;
  const spec = shareParts(read, newest);
  newest = spec;
  (value as Record<string, unknown>)["spec"] = spec;
  if (!specs.hasCome(span)) return value;
  const { bytes, start, end } = span;
  if (stringifyJson(spec) === bytes.toString("utf8", start, end)) specs.keep(span, freezeJson(spec));
  return value;
}
