/** Compares a value with its previous value, matching the items of lists by key. */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { itemKey } from "./list-key.ts";
import type { Structural } from "./structural.ts";

/** True when the value is unchanged. Items of a list with keys may be in any order. */
export function isUnchanged(schema: Structural, value: unknown, previous: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(previous) && schema.listType === "map")
    return areItemsUnchanged(schema, value, previous);
  if (isJsonObject(value) && isJsonObject(previous)) return areFieldsUnchanged(schema, value, previous);
  return jsonEqual(value, previous);
}

function areItemsUnchanged(
  schema: Structural,
  value: readonly unknown[],
  previous: readonly unknown[],
): boolean {
  const { items } = schema;
  if (items === undefined || value.length !== previous.length) return jsonEqual(value, previous);
  const before = new Map(previous.map((item) => [itemKey(schema, item), item]));
  // A repeated key cannot be matched with a previous item.
  if (new Set(value.map((item) => itemKey(schema, item))).size < value.length)
    return jsonEqual(value, previous);
  return value.every((item) => isUnchanged(items, item, before.get(itemKey(schema, item))));
}

function areFieldsUnchanged(schema: Structural, value: JsonObject, previous: JsonObject): boolean {
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(previous).length) return false;
  return keys.every((key) => {
    if (!Object.hasOwn(previous, key)) return false;
    const inner = schema.properties.get(key) ?? schema.additional;
    return typeof inner === "object"
      ? isUnchanged(inner, value[key], previous[key])
      : jsonEqual(value[key], previous[key]);
  });
}
