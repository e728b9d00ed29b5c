/**
 * Defines how apply treats a value: as one leaf, as a map whose fields have owners of their own, or as a list whose items
 * are identified by key or value. All walks in this folder use these functions, so that they agree.
 */
import { isJsonObject, type JsonObject } from "../../json/json-object.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import { itemElement } from "./path-element.ts";

/** Schema of unknown fields and of values without a type: maps are owned key by key, other values whole. */
const DEDUCED: MapSchema = {
  type: "map",
  atomic: false,
  get values(): Schema {
    return DEDUCED;
  },
};

/** The schema if its values are maps owned field by field. */
export function granularMap(schema: Schema): StructSchema | MapSchema | undefined {
  if (schema.type === "raw") return schema.isGranular === true ? DEDUCED : undefined;
  return (schema.type === "struct" || schema.type === "map") && !schema.atomic ? schema : undefined;
}

/** The schema if its values are lists owned item by item. */
export function granularList(schema: Schema): ListSchema | undefined {
  return schema.type === "list" && schema.listType !== "atomic" ? schema : undefined;
}

/** The schema of the value under a key. */
export function memberSchema(schema: StructSchema | MapSchema, key: string): Schema {
  if (schema.type === "map") return schema.values;
  return schema.byName.get(key)?.schema ?? DEDUCED;
}

export function isNamed(schema: StructSchema | MapSchema, key: string): boolean {
  return schema.type === "struct" && schema.byName.has(key);
}

/** True for a map that has a key. */
export function isFilledMap(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return true;
  return false;
}

export function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** True for a value that states nothing: absent, null, or an empty container of any kind. */
export function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && !isFilledMap(value);
}

/** Items with the same element. Schemas forbid them, but some kinds have them (`ports` of two protocols). */
export class DuplicateItems {
  readonly items: unknown[];

  constructor(...items: unknown[]) {
    this.items = items;
  }
}

/** Items by element, in order of first appearance. */
export function indexedItems(schema: ListSchema, list: readonly unknown[]): Map<string, unknown> {
  const index = new Map<string, unknown>();
  for (const item of list) {
    const element = itemElement(schema, item);
    const known = index.get(element);
    if (known === undefined) index.set(element, item);
    else if (known instanceof DuplicateItems) known.items.push(item);
    else index.set(element, new DuplicateItems(known, item));
  }
  return index;
}
