/** Computes the set of fields present in a value: an applier of the value owns them, and a writer adds them. */
import type { JsonObject } from "../../json/json-object.ts";
import type { ListSchema, MapSchema, Schema, StructField, StructSchema } from "../../schema/schema.ts";
import { asMember, EMPTY, type FieldSet, type FieldSetDraft, MEMBER, sortedSet } from "./field-set.ts";
import {
  granularList,
  granularMap,
  indexedItems,
  isFilledList,
  isFilledMap,
  memberSchema,
  DuplicateItems,
} from "./granularity.ts";
import { fieldElement, SELF } from "./path-element.ts";

/**
 * Fields that an applied configuration claims: leaves, keys of maps and items of lists. Their containers (structs, maps and
 * lists) are not claimed. An empty list claims nothing.
 */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  return claimed(value, schema) ?? EMPTY;
}

/** All fields of a value: those of `fieldsOf` and their containers. */
export function allFieldsOf(value: unknown, schema: Schema): FieldSet {
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(value)) return eachMember(value, map, ALL) ?? MEMBER;
  const list = granularList(schema);
  return list !== undefined && isFilledList(value) ? eachItem(value, list, ALL) : MEMBER;
}

/** Rules for turning the members of a value into sets. */
interface Walk {
  /** The set of a map or list before its parts are added. */
  start(): FieldSetDraft;
  /** Set of a member. `field` is undefined for a key of a map and for a field the schema does not name. */
  member(value: unknown, schema: Schema, field: StructField | undefined): FieldSet | undefined;
  item(value: unknown, schema: Schema): FieldSet;
}

const CLAIMS: Walk = {
  start: () => ({}),
  member: (value, schema, field) => {
    if (value === null) return MEMBER;
    const node = claimed(value, schema);
    return field === undefined ? asMember(node ?? MEMBER) : node;
  },
  item: (value, schema) => asMember(claimed(value, schema) ?? MEMBER),
};

const ALL: Walk = {
  start: () => ({ [SELF]: MEMBER }),
  member: allFieldsOf,
  item: allFieldsOf,
};

function claimed(value: unknown, schema: Schema): FieldSet | undefined {
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(value)) return eachMember(value, map, CLAIMS);
  const list = granularList(schema);
  if (list === undefined || !Array.isArray(value)) return MEMBER;
  return isFilledList(value) ? eachItem(value, list, CLAIMS) : undefined;
}

/** Set of a map's members; `undefined` when no member has a node. */
function eachMember(value: JsonObject, schema: StructSchema | MapSchema, walk: Walk): FieldSet | undefined {
  const set = walk.start();
  let previous: string | undefined;
  let isInOrder = true;
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    const field = schema.type === "struct" ? schema.byName.get(key) : undefined;
    const node = walk.member(member, field?.schema ?? memberSchema(schema, key), field);
    if (node === undefined) continue;
    set[fieldElement(key)] = node;
    isInOrder &&= previous === undefined || key > previous;
    previous = key;
  }
  if (previous === undefined) return undefined;
  return isInOrder ? set : sortedSet(set);
}

/** Set of a list's items. Items with equal keys are owned together, as one leaf. */
function eachItem(list: readonly unknown[], schema: ListSchema, walk: Walk): FieldSet {
  const set = walk.start();
  for (const [element, item] of indexedItems(schema, list)) {
    set[element] = item instanceof DuplicateItems ? MEMBER : walk.item(item, schema.items);
  }
  return list.length === 1 ? set : sortedSet(set);
}
