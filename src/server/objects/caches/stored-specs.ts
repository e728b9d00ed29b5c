/**
 * Reads the JSON of stored objects without reading their specs, where these are known from other objects: a frozen spec is found again by its text
 * (shared-specs.ts makes them), and with it all that was found out of it before.
 */
import { freezeJson } from "../../../api/json/json-freeze.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { RepeatedTexts, spanOf } from "./repeated-texts.ts";
import type { Span } from "./repeated-texts.ts";

/** Reading shorter ones costs no more than looking for them. */
const SPEC_BYTES_MIN = 256;

/** What stands before and behind a spec in normal form. Inside of strings quotes are escaped, so that these are keys wherever they occur. */
const BEFORE = Buffer.from('},"spec":');
const BEHIND = Buffer.from(',"status":{');

/** Stands for a spec while the rest is read. No stored number is written so: whoever has it in the place of the spec has it from here. */
const LEFT_OUT = "-0";

const specs = new RepeatedTexts<JsonObject>();

/** To be told of frozen specs when they are first written. */
export function keepSpec(text: string, spec: JsonObject): void {
  if (text.length >= SPEC_BYTES_MIN) specs.keep(spanOf(text), spec);
}

/** What `parse` makes of the text of these bytes; its spec may be frozen. Throws what `parse` throws. */
export function parseWithSpec(bytes: Buffer, parse: (text: string) => unknown): unknown {
  const span = findSpec(bytes);
  if (span === undefined) return parse(bytes.toString());
  const known = specs.find(span);
  if (known === undefined) return newlyRead(parse(bytes.toString()), span);
  const rest = `${bytes.toString("utf8", 0, span.start)}${LEFT_OUT}${bytes.toString("utf8", span.end)}`;
  return withSpec(parse(rest), known) ?? parse(bytes.toString());
}

/** Where a spec stands that is worth looking for; `undefined` where none is, or the text has another form. */
export function findSpec(bytes: Buffer): Span | undefined {
  const before = bytes.indexOf(BEFORE);
  if (before < 0) return undefined;
  const start = before + BEFORE.length;
  const end = bytes.lastIndexOf(BEHIND);
  return end - start < SPEC_BYTES_MIN ? undefined : { bytes, start, end };
}

/** Undefined where something else looked like a spec. */
function withSpec(value: unknown, spec: JsonObject): unknown {
  if (!isJsonObject(value) || !Object.is(value["spec"], -0)) return undefined;
  (value as Record<string, unknown>)["spec"] = spec;
  return value;
}

/** From its second time on a spec is kept. */
function newlyRead(value: unknown, span: Span): unknown {
  const spec = isJsonObject(value) ? value["spec"] : undefined;
  if (!isJsonObject(spec) || !specs.hasCome(span)) return value;
  const { bytes, start, end } = span;
  if (stringifyJson(spec) === bytes.toString("utf8", start, end)) specs.keep(span, freezeJson(spec));
  return value;
}
