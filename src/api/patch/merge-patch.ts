/**
 * Applies JSON Merge Patch (RFC 7386) as kube-apiserver does. Inputs are not changed; the result shares unchanged parts
 * with them.
 */
import { badRequest } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { goJsonWord } from "./go-text.ts";

/** The document with the patch merged in: `null` removes a member, an object merges, any other value replaces. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  // Go decodes `null` as a map without error, but its merge refuses it.
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isJsonObject(patch)) {
    const word = goJsonWord(patch);
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${word} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(document, patch);
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...document };
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    const current = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (value === null) delete merged[key];
    else if (isJsonObject(current))
      setOwn(merged, key, isJsonObject(value) ? mergeObjects(current, value) : value);
    else setOwn(merged, key, withoutNulls(value));
  }
  return merged;
}

/** Removes nulls from a value that is new to the document. A null in a list stays, as in upstream. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) setOwn(kept, key, withoutNulls(value[key]));
  }
  return kept;
}
