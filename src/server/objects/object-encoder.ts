/**
 * Encodes objects as the JSON that is stored. The text of frozen parts is cached, because objects share them.
 */
import { entriesText } from "../../api/apply/managed-entry.ts";
import { frozenMemo } from "../../api/json/frozen-memo.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyAsGo, stringifyJson } from "../../api/json/json-text.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { keepSpec } from "./stored/stored-json.ts";

/** An object in its stored form. */
export interface Encoded {
  readonly object: ApiObject;
  readonly bytes: Buffer;
  /** Offset for `"resourceVersion":"…",`: before the next key in order. Undefined without one. */
  readonly spliceAt: number | undefined;
}

export function isEncoded(slot: unknown): slot is Encoded {
  return isJsonObject(slot) && Buffer.isBuffer(slot["bytes"]);
}

/** Not a slice: a slice would keep its whole shared buffer in memory. */
export function exactBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Encodes member by member, so that the offset of the resourceVersion is known without a search. */
export function encodeObject(object: ApiObject): Encoded {
  let text = "{";
  let spliceAt: number | undefined;
  for (const key of Object.keys(object)) {
    const value = (object as JsonObject)[key];
    text += `${text === "{" ? "" : ","}${stringifyJson(key)}:`;
    if (key !== "metadata") {
      text += memberText(object, key, value);
      continue;
    }
    const [before, after] = metadataTexts(value as JsonObject);
    text += before;
    spliceAt = after === undefined ? undefined : text.length;
    text += after ?? "";
  }
  text += "}";
  const bytes = exactBytes(text);
  if (bytes.length !== text.length && spliceAt !== undefined)
    spliceAt = Buffer.byteLength(text.slice(0, spliceAt));
  return { object, bytes, spliceAt };
}

function memberText(object: ApiObject, key: string, value: unknown): string {
  if (key === "spec") return sharedText(value);
  return isRaw(object, key, value) ? stringifyAsGo(value) : stringifyJson(value);
}

/** Go clients compare raw JSON with their own encoding, byte by byte. */
function isRaw({ apiVersion, kind }: ApiObject, key: string, value: unknown): boolean {
  if (typeof value !== "object" || key === "status") return false;
  return findKindSchema(apiVersion, kind)?.byName.get(key)?.schema.type === "raw";
}

const frozenText = frozenMemo((value: object): string => stringifyJson(value));

/** Text of a shared spec. The spec is registered, so that objects read from the store share it too. */
const frozenSpecText = frozenMemo((spec: JsonObject): string => {
  const text = stringifyJson(spec);
  keepSpec(text, spec);
  return text;
});

/** Text of a spec. Its frozen parts are shared with other objects, and their text is cached. */
function sharedText(value: unknown): string {
  if (!isJsonObject(value)) return stringifyJson(value);
  if (Object.isFrozen(value)) return frozenSpecText(value);
  const keys = Object.keys(value);
  if (!keys.some((key) => isFrozenPart(value[key]))) return stringifyJson(value);
  let text = "";
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    const memberText = isFrozenPart(member) ? frozenText(member) : stringifyJson(member);
    text += `${text === "" ? "{" : ","}${stringifyJson(key)}:${memberText}`;
  }
  return `${text}}`;
}

function isFrozenPart(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.isFrozen(value);
}

/**
 * The text before the place of the resourceVersion, and the text after it. The second is undefined if no member
 * follows: a value of foreign origin may lack the uid.
 */
function metadataTexts(metadata: JsonObject): readonly [string, string | undefined] {
  const before: string[] = [];
  const after: string[] = [];
  for (const key of Object.keys(metadata)) {
    if (key === "resourceVersion") continue;
    const value = metadata[key];
    const member = `"${key}":${key === "managedFields" ? entriesText(value) : stringifyJson(value)}`;
    (key < "resourceVersion" ? before : after).push(member);
  }
  if (after.length === 0) return [`{${before.join(",")}}`, undefined];
  return [before.length === 0 ? "{" : `{${before.join(",")},`, `${after.join(",")}}`];
}
