/** The set of fields that a value has: what an applier of that value owns, or what a writer adds with it. */
import type { JsonObject } from "../../json/json-object.ts";
import type { ListSchema, MapSchema, Schema, StructField, StructSchema } from "../../schema/schema.ts";
import { asMember, EMPTY, type FieldSet, type FieldSetDraft, MEMBER, sortedSet } from "./field-set.ts";
import { fieldElement, SELF } from "./path-element.ts";
import {
  granularList,
  granularMap,
  indexedItems,
  isFilledList,
  isFilledMap,
  memberSchema,
  Repeated,
} from "./shape.ts";

/**
 * What an applied configuration claims: leaves, keys of maps and items of lists. Structs, and the maps and lists
 * that hold the keys and items, are not claimed by what is in them. An empty list claims nothing.
 */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  return claimed(value, schema) ?? EMPTY;
}

/** Everything that comes into being with the value: the fields of `fieldsOf` and all that holds them. */
export function allFieldsOf(value: unknown, schema: Schema): FieldSet {
  const map = granularMap(schema);
  if (map !== undefined && isFilledMap(value)) return eachMember(value, map, ALL) ?? MEMBER;
  const list = granularList(schema);
  return list !== undefined && isFilledList(value) ? eachItem(value, list, ALL) : MEMBER;
}

/** What becomes of the parts of a value. */
interface Walk {
  /** The set of a map or list before its parts are added. */
  start(): FieldSetDraft;
  /** `field` is undefined for a key of a map, and for what a struct does not name. */
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

/** `undefined` when no member gives a node. */
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

/** Items that cannot be told apart are owned together, by their key alone. */
function eachItem(list: readonly unknown[], schema: ListSchema, walk: Walk): FieldSet {
  const set = walk.start();
  for (const [element, item] of indexedItems(schema, list)) {
    set[element] = item instanceof Repeated ? MEMBER : walk.item(item, schema.items);
  }
  return list.length === 1 ? set : sortedSet(set);
}
