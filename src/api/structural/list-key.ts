import { isJsonObject } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import type { Structural } from "./structural.ts";

/** What tells an item of a list apart from the others: its keys in a map, all of it in a set. */
export function itemKey(schema: Structural, item: unknown): string {
  return stringifyJson(keyOf(schema, item) ?? null);
}

/** The keys of an item, as many as it has. */
export function keyOf({ listType, mapKeys }: Structural, item: unknown): unknown {
  if (listType !== "map") return item;
  if (!isJsonObject(item)) return {};
  return Object.fromEntries(
    mapKeys.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  );
}
