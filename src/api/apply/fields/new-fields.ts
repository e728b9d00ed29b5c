/**
 * Computes the fields that the creator of an object owns. They depend on its keys and on the keys of list items, not on
 * other values, so most new objects share a set. The set is found by its text, which takes one pass and builds no set.
 */
import { isJsonObject, isSorted, type JsonObject } from "../../json/json-object.ts";
import { jsonEqual } from "../../patch/json-equal.ts";
import { zeroValue } from "../../schema/go-zero.ts";
import {
  findField,
  type ListSchema,
  type MapSchema,
  type Schema,
  type StructSchema,
} from "../../schema/schema.ts";
import { EMPTY, type FieldSet, isEmpty } from "./field-set.ts";
import { granularList, granularMap, memberSchema } from "./granularity.ts";
import { fieldElement, fieldKey, itemElement, sortElements } from "./path-element.ts";
import { setOf } from "./shared-set.ts";

/**
 * Fields of an object that its schema's zero value lacks: `written(compare(zeroStruct(schema), object, schema))`. A struct
 * in the zero value is not new, only fields added to it are. The leaves of `except`, and all fields below them, are left
 * out.
 */
export function newFieldsOf(object: JsonObject, schema: StructSchema, except: FieldSet = EMPTY): FieldSet {
  const { spec } = object;
  if (!isJsonObject(spec) || !Object.isFrozen(spec)) return setOf(`{${newMembers(object, schema, except)}}`);
  const others = newMembers({ ...object, spec: undefined }, schema, except);
  const latest = latestOf.get(spec);
  if (latest?.schema === schema && latest.except === except && latest.others === others) return latest.set;
  const set = setOf(`{${newMembers(object, schema, except)}}`);
  latestOf.set(spec, { schema, except, others, set });
  return set;
}

/** A set, with the inputs it was computed from. */
interface Latest {
  readonly schema: StructSchema;
  readonly except: FieldSet;
  /** Text of all fields but those of the spec. */
  readonly others: string;
  readonly set: FieldSet;
}

/** Latest set by frozen spec: objects that share a spec mostly have the same other fields. */
const latestOf = new WeakMap<JsonObject, Latest>();

/** A node without children. */
const LEAF = "{}";
/** Text of a node's own membership, before its children. */
const ITSELF = '".":{}';

/** Text of the new members of a value; empty when there are none. */
function newMembers(value: JsonObject, schema: StructSchema | MapSchema, except: FieldSet): string {
  let text = "";
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const left = except[fieldElement(key)] ?? EMPTY;
    if (left !== EMPTY && isEmpty(left)) continue;
    const field = findField(schema, key);
    const inner = field?.schema ?? memberSchema(schema, key);
    const node = field?.filled === true ? newNode(member, inner, left) : nodeText(member, inner);
    if (node !== "") text += `${text === "" ? "" : ","}${fieldKey(key)}${node}`;
  }
  return text;
}

/** Text of a value that the zero value has too; empty when it is unchanged. */
function newNode(value: unknown, schema: Schema, except: FieldSet): string {
  const map = granularMap(schema);
  if (map !== undefined) {
    if (!isJsonObject(value)) return "";
    const text = except === EMPTY ? newTexts.of(value, map, newText) : newMembers(value, map, except);
    return text === "" ? "" : `{${text}}`;
  }
  const list = granularList(schema);
  if (list !== undefined) return isFilled(value) ? `{${itemsText(value, list)}}` : "";
  return jsonEqual(value, zeroValue(schema)) ? "" : LEAF;
}

function newText(value: JsonObject, schema: StructSchema | MapSchema): string {
  return newMembers(value, schema, EMPTY);
}

/** Text of a new value, with all fields in it. */
function nodeText(value: unknown, schema: Schema): string {
  if (typeof value !== "object" || value === null) return LEAF;
  const map = granularMap(schema);
  if (map !== undefined) return isJsonObject(value) ? texts.of(value, map, mapText) : LEAF;
  const list = granularList(schema);
  return list !== undefined && isFilled(value) ? texts.of(value, list, listText) : LEAF;
}

function mapText(value: JsonObject, schema: StructSchema | MapSchema): string {
  let text = "";
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member !== undefined) text += `,${fieldKey(key)}${nodeText(member, memberSchema(schema, key))}`;
  }
  return text === "" ? LEAF : `{${ITSELF}${text}}`;
}

function listText(list: readonly unknown[], schema: ListSchema): string {
  return `{${ITSELF},${itemsText(list, schema)}}`;
}

/** Items with equal keys are owned together, as one leaf. */
function itemsText(list: readonly unknown[], schema: ListSchema): string {
  const nodes = new Map<string, string>();
  for (const item of list) {
    const element = itemElement(schema, item);
    nodes.set(element, nodes.has(element) ? LEAF : nodeText(item, schema.items));
  }
  let text = "";
  for (const element of sortElements([...nodes.keys()])) {
    text += `${text === "" ? "" : ","}${JSON.stringify(element)}:${nodes.get(element) ?? LEAF}`;
  }
  return text;
}

/** Keys in the order of the normal form. Code that fills in defaults may break that order. */
function sortedKeys(value: JsonObject): readonly string[] {
  const keys = Object.keys(value);
  return isSorted(keys) ? keys : keys.toSorted();
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Cached texts of frozen values, which many objects share and which never change. */
class FrozenTexts {
  readonly #known = new WeakMap<object, { readonly schema: Schema; readonly text: string }>();

  of<V extends object, S extends Schema>(
    value: V,
    schema: S,
    compose: (value: V, schema: S) => string,
  ): string {
    if (!Object.isFrozen(value)) return compose(value, schema);
    const known = this.#known.get(value);
    if (known?.schema === schema) return known.text;
    const text = compose(value, schema);
    this.#known.set(value, { schema, text });
    return text;
  }
}

const texts = new FrozenTexts();
/** Cached texts of the new fields in frozen values that the zero value has too. */
const newTexts = new FrozenTexts();
