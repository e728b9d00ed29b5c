/** Removes fields from a value, or removes all others. */
import { type JsonObject, setOwn } from "../../json/json-object.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import { type FieldSet, isEmpty, isMember } from "./field-set.ts";
import { granularList, granularMap, isFilledList, isFilledMap, memberSchema } from "./granularity.ts";
import { fieldElement, itemElement } from "./path-element.ts";

/**
 * The value without the fields of the set. A map or list that loses all members becomes null, which the normal form drops.
 * Returns the value itself when it has none of the fields.
 */
export function removeFields(value: unknown, fields: FieldSet, schema: Schema): unknown {
  if (isEmpty(fields)) return value;
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(value)) return removeMembers(value, fields, map);
  const list = granularList(schema);
  if (list !== undefined && isFilledList(value)) return removeItems(value, fields, list);
  return typeof value === "object" ? null : value;
}

function removeMembers(value: JsonObject, fields: FieldSet, schema: StructSchema | MapSchema): unknown {
  const kept: Record<string, unknown> = {};
  let [isChanged, count] = [false, 0];
  for (const key in value) {
    const before = value[key];
    const node = fields[fieldElement(key)];
    const after = node === undefined ? before : remaining(before, node, memberSchema(schema, key));
    isChanged ||= after !== before;
    if (after === undefined) continue;
    setOwn(kept, key, after);
    count++;
  }
  if (!isChanged) return value;
  return count === 0 ? null : kept;
}

function removeItems(list: readonly unknown[], fields: FieldSet, schema: ListSchema): unknown {
  const kept: unknown[] = [];
  let isChanged = false;
  for (const before of list) {
    const node = fields[itemElement(schema, before)];
    const after = node === undefined ? before : remaining(before, node, schema.items);
    isChanged ||= after !== before;
    if (after !== undefined) kept.push(after);
  }
  if (!isChanged) return list;
  return kept.length === 0 ? null : kept;
}

/** The value after the removal; `undefined` when the value itself is removed. */
function remaining(value: unknown, node: FieldSet, schema: Schema): unknown {
  return isMember(node) ? undefined : removeFields(value, node, schema);
}

/**
 * The value reduced to the leaves of the set and their containers: the configuration that the set's owner would apply to
 * keep its fields. List items keep their keys. `undefined` when nothing is left.
 */
export function extractFields(value: unknown, fields: FieldSet, schema: Schema): unknown {
  if (isEmpty(fields)) return value;
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(value))
    return extractMembers(value, fields, { schema: map, keys: [] });
  const list = granularList(schema);
  if (list === undefined || !isFilledList(value)) return undefined;
  const kept: unknown[] = [];
  for (const item of value) {
    const node = fields[itemElement(list, item)];
    if (node !== undefined) kept.push(extractItem(item, node, list));
  }
  return kept.length === 0 ? undefined : kept;
}

function extractItem(item: unknown, node: FieldSet, { items, keys }: ListSchema): unknown {
  const map = granularMap(items);
  return map !== undefined && isFilledMap(item) ? extractMembers(item, node, { schema: map, keys }) : item;
}

function extractMembers(
  value: JsonObject,
  fields: FieldSet,
  { schema, keys }: { readonly schema: StructSchema | MapSchema; readonly keys: readonly string[] },
): JsonObject | undefined {
  const kept: Record<string, unknown> = {};
  for (const key in value) {
    const node = fields[fieldElement(key)];
    const member =
      node === undefined ? undefined : extractFields(value[key], node, memberSchema(schema, key));
    if (member !== undefined) setOwn(kept, key, member);
    else if (keys.includes(key)) setOwn(kept, key, value[key]);
  }
  return isFilledMap(kept) ? kept : undefined;
}
