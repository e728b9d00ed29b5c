import { isJsonObject } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import type { Structural } from "./structural.ts";

/** Identity of a list item: its keys in a list with keys, the whole item in a set. */
export function itemKey(schema: Structural, item: unknown): string {
  return stringifyJson(keyOf(schema, item) ?? null);
}

/** The keys present in an item. */
export function keyOf({ listType, mapKeys }: Structural, item: unknown): unknown {
  if (listType !== "map") return item;
  if (!isJsonObject(item)) return {};
  return Object.fromEntries(
    mapKeys.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  );
}
