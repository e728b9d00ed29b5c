/**
 * Presents JSON as values of expressions, created item by item on access. The type decides the meaning of a JSON value: a
 * number is an int or a double, a text may be a timestamp. A value that does not fit its type is read by its JSON type,
 * because stored objects outlive schema changes.
 */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { parseDuration } from "../values/time.ts";
import { instantOf, offsetMinutesOf } from "./instant.ts";
import type { Run } from "./run.ts";
import { type CelType, DYN, type FieldTypes, type ListKeys, parameterOf } from "./type.ts";
import {
  Bytes,
  CelList,
  CelMap,
  CelRecord,
  type CelValue,
  Duration,
  keyText,
  PlainList,
  Timestamp,
  typeNameOf,
} from "./value.ts";

/** Wraps `json`, which must not change while the value is in use. */
export function jsonToValue(type: CelType, json: unknown): CelValue {
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return new JsonList(json, elementOf(type), type.listKeys);
  if (isJsonObject(json)) return objectToValue(type, json);
  if (typeof json === "number") return numberToValue(type, json);
  if (typeof json === "string") return textToValue(type, json);
  return json as boolean | bigint;
}

function elementOf(type: CelType): CelType {
  return type.kind === "list" ? parameterOf(type) : DYN;
}

function objectToValue(type: CelType, json: JsonObject): CelValue {
  if (type.kind === "object" && type.fields !== undefined)
    return new JsonRecord(type.name, type.fields, json);
  return new JsonMap(json, type.kind === "map" ? parameterOf(type, 1) : DYN);
}

/** Cached small integers. Most integers are small, and a lookup is faster than making a bigint. */
const SMALL_INTS: readonly bigint[] = Array.from({ length: 1024 }, (_, at) => BigInt(at));

function numberToValue({ name }: CelType, json: number): CelValue {
  if (name === "double" || !Number.isInteger(json)) return json;
  return SMALL_INTS[json] ?? BigInt(json);
}

/** The value of a text. A text that does not have the format of its type stays a text. */
function textToValue({ name }: CelType, json: string): CelValue {
  switch (name) {
    case "google.protobuf.Timestamp": {
      const ns = instantOf(json) ?? instantOf(`${json}T00:00:00Z`);
      return ns === undefined ? json : new Timestamp(ns, offsetMinutesOf(json));
    }
    case "google.protobuf.Duration":
      return durationOf(json) ?? json;
    case "bytes":
      return new Bytes(Buffer.from(json, "base64"));
    default:
      return json;
  }
}

function durationOf(text: string): Duration | undefined {
  try {
    return new Duration(parseDuration(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class JsonList extends CelList {
  readonly listKeys: ListKeys | undefined;
  readonly json: readonly unknown[];
  readonly #element: CelType;

  constructor(json: readonly unknown[], element: CelType, listKeys: ListKeys | undefined) {
    super();
    this.json = json;
    this.#element = element;
    this.listKeys = listKeys;
  }

  get size(): number {
    return this.json.length;
  }

  at(at: number): CelValue {
    return jsonToValue(this.#element, this.json[at]);
  }
}

/** Result of adding to a set or to a list with keys. */
class KeyedList extends PlainList {
  readonly listKeys: ListKeys;

  constructor(items: readonly CelValue[], listKeys: ListKeys) {
    super(items);
    this.listKeys = listKeys;
  }
}

/** Keys of the list; `undefined` for a list whose items are identified by index. */
export function listKeysOf(list: CelList): ListKeys | undefined {
  return list instanceof JsonList || list instanceof KeyedList ? list.listKeys : undefined;
}

class JsonMap extends CelMap {
  readonly #json: JsonObject;
  readonly #value: CelType;
  #keys: readonly string[] | undefined;

  constructor(json: JsonObject, value: CelType) {
    super();
    this.#json = json;
    this.#value = value;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.#json, key)) return undefined;
    return jsonToValue(this.#value, this.#json[key]);
  }

  keys(): readonly string[] {
    this.#keys ??= Object.keys(this.#json);
    return this.#keys;
  }
}

export class JsonRecord extends CelRecord {
  readonly typeName: string;
  readonly #types: FieldTypes;
  readonly #json: JsonObject;

  constructor(typeName: string, types: FieldTypes, json: JsonObject) {
    super();
    this.typeName = typeName;
    this.#types = types;
    this.#json = json;
  }

  /** Value of a field. A null field counts as unset. */
  find(field: string): CelValue | undefined {
    const found = this.#types.find(field);
    if (found === undefined || !Object.hasOwn(this.#json, found.jsonName)) return undefined;
    return jsonToValue(found.type, this.#json[found.jsonName]) ?? undefined;
  }

  *fields(): Iterable<string> {
    for (const name of this.#types.names) if (this.find(name) !== undefined) yield name;
  }

  /** Value of a member by its JSON name, which expressions may be unable to write. */
  member(jsonName: string): CelValue {
    return Object.hasOwn(this.#json, jsonName) ? jsonToValue(DYN, this.#json[jsonName]) : null;
  }

  /** Members that expressions cannot name. */
  get hidden(): CelMap {
    const seen = new Set(Array.from(this.fields(), (name) => this.#types.find(name)?.jsonName));
    const rest = Object.entries(this.#json).filter(([jsonName]) => !seen.has(jsonName));
    return new JsonMap(Object.fromEntries(rest), DYN);
  }
}

/**
 * Adds lists as their schema says: a set keeps each item once, and in a list with keys an item replaces the one with equal
 * keys. Other lists are concatenated.
 */
export function concatLists(left: CelList, right: CelList, run: Run): CelList {
  run.charge(left.size + right.size);
  const items = itemsOf(left);
  const keys = listKeysOf(left);
  if (keys === undefined) return new PlainList([...items, ...itemsOf(right)]);
  const places = new Map(items.map((item, at) => [listItemKey(keys, item, run), at]));
  for (const item of itemsOf(right)) {
    const key = listItemKey(keys, item, run);
    const place = places.get(key) ?? items.length;
    places.set(key, place);
    items[place] = item;
  }
  return new KeyedList(items, keys);
}

export function itemsOf(list: CelList): CelValue[] {
  return Array.from({ length: list.size }, (_, at) => list.at(at));
}

/** Identity of an item: equal for items that are the same in a set or in a list with keys. */
export function listItemKey(keys: ListKeys | undefined, item: CelValue, run: Run): string {
  if (keys?.type !== "map" || !(item instanceof CelRecord || item instanceof CelMap))
    return valueKey(item, run);
  return keys.keys.map((name) => valueKey(memberOf(item, name), run)).join("\n");
}

function memberOf(item: CelRecord | CelMap, name: string): CelValue {
  return item instanceof JsonRecord ? item.member(name) : (item.find(name) ?? null);
}

function valueKey(value: CelValue, run: Run): string {
  run.charge(1);
  if (value === null) return "null";
  const scalar = keyText(value);
  if (scalar !== undefined) return JSON.stringify(scalar);
  if (value instanceof CelList)
    return `[${itemsOf(value)
      .map((item) => valueKey(item, run))
      .join()}]`;
  if (value instanceof CelMap)
    return `{${[...value.keys()]
      .map((key) => `${valueKey(key, run)}:${valueKey(value.find(key) ?? null, run)}`)
      .toSorted()
      .join()}}`;
  if (value instanceof CelRecord)
    return `{${[...value.fields()]
      .map((name) => `${name}:${valueKey(value.find(name) ?? null, run)}`)
      .toSorted()
      .join()}}`;
  return atomKey(value);
}

function atomKey(value: CelValue): string {
  if (value instanceof Timestamp || value instanceof Duration) return `${value.tag} ${value.ns}`;
  if (value instanceof Bytes) return `bytes ${Buffer.from(value.data).toString("base64")}`;
  return typeof value === "number" ? `d${value}` : typeNameOf(value);
}
