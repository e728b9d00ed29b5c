/**
 * One step of a field's path, in the text form that FieldsV1 uses for keys:
 *
 *   f:replicas                                  a field of a struct, or a key of a map
 *   k:{"containerPort":80,"protocol":"TCP"}     an item of a list, by its keys in order of their names
 *   v:"kubernetes.io/pvc-protection"            an item of a set, by its value
 *   i:0                                         an item of a list, by its index (kept, but never created here)
 *
 * Two elements are equal when their canonical texts are.
 */
import { isJsonObject, type JsonObject, isSorted } from "../../json/json-object.ts";
import { stringifyJson } from "../../json/json-text.ts";
import { zeroValue } from "../../schema/go-zero.ts";
import { type ListSchema, compareNames, findField } from "../../schema/schema.ts";
import { quoted } from "../../values/message-text.ts";

/** Membership of the node itself, among its children: `{".":{},"f:app":{}}` owns the map and its key. */
export const SELF = ".";

/** Text that Go's JSON encoder writes without any escape. */
const PLAIN = "[ !#-%'-;=?-[\\]-~]*";
const PLAIN_TEXT = new RegExp(`^${PLAIN}$`);
/** Keys that are already canonical, which is nearly all keys. */
const CANONICAL_KEY = new RegExp(`^k:\\{"[^"\\\\]+":(?:"${PLAIN}"|0|-?[1-9]\\d*|true|false)\\}$`);
/**
 * Elements that sort by text as they sort by content: they have no numbers, and no character that sorts before the closing
 * quote.
 */
const ORDERED_AS_TEXT = /^(?:\.$|f:|k:\{"[^"\\]+":"[#-%'-;=?-[\]-~]*"\}$|v:"[#-%'-;=?-[\]-~]*"$)/;

/** Bound of the cached names: all built-in fields fit, and the rest is labels and annotations. */
const NAMES_MAX = 20_000;
/** Longest cached name. Longer names are not fields of a schema, and could grow the cache to many megabytes. */
const NAME_LENGTH_MAX = 100;

/** Caches the results of `make` by name. */
function cached(make: (name: string) => string): (name: string) => string {
  const made = new Map<string, string>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const text = make(name);
    if (name.length > NAME_LENGTH_MAX) return text;
    if (made.size === NAMES_MAX) made.clear();
    made.set(name, text);
    return text;
  };
}

/** The element of a field. Cached because V8 interns a new string when it becomes a key, which costs more than making it. */
export const fieldElement = cached((name) => `f:${name}`);

/** The element of a field as a JSON key, with its colon. */
export const fieldKey = cached((name) => `${JSON.stringify(`f:${name}`)}:`);

/**
 * The element of a list item. Never throws, so that every stored object can be tracked: an invalid item (`itemMistake`) has
 * an element too.
 */
export function itemElement(schema: ListSchema, item: unknown): string {
  if (schema.listType !== "map" || !isJsonObject(item)) return `v:${scalarText(item)}`;
  const names = isSorted(schema.keys) ? schema.keys : schema.keys.toSorted();
  let text = "";
  for (const name of names) {
    const value = keyValue(schema, item, name);
    if (value !== undefined) text += `${text === "" ? "" : ","}"${name}":${scalarText(value)}`;
  }
  return `k:{${text}}`;
}

/** Upstream's error for an item without the key that identifies it; `undefined` when the item is valid. */
export function itemMistake(schema: ListSchema, item: unknown): string | undefined {
  if (schema.listType === "map") return keyedItemMistake(schema, item);
  if (Array.isArray(item)) return "not supported: associative list with lists as elements";
  if (isJsonObject(item)) return "associative list without keys has an element that's a map type";
  return item === null ? "associative list without keys has an element that's an explicit null" : undefined;
}

function keyedItemMistake(schema: ListSchema, item: unknown): string | undefined {
  if (item === null) return "associative list with keys may not have a null element";
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  if (schema.keys.some((name) => keyValue(schema, item, name) !== undefined)) return undefined;
  const keys = schema.keys.map((name) => quoted(name)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}

/**
 * The value of a list key. A missing key has its published default (`protocol: TCP`) or Go's zero, which equals absent.
 * `undefined` where Go tells zero and absent apart.
 */
function keyValue(schema: ListSchema, item: JsonObject, name: string): unknown {
  if (Object.hasOwn(item, name)) return item[name] ?? undefined;
  const field = findField(schema.items, name);
  if (field === undefined || field.pointer) return field?.defaultValue;
  return field.defaultValue ?? zeroValue(field.schema);
}

/** The scalar as Go's JSON encoder writes it. */
function scalarText(value: unknown): string {
  if (typeof value === "string") return stringText(value);
  return typeof value === "number" ? String(value) : stringifyJson(value);
}

function stringText(text: string): string {
  if (PLAIN_TEXT.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * The canonical text of an element that a client sent. `undefined` for an unknown kind of element, which is dropped as
 * upstream drops it. Throws when it is malformed.
 */
export function canonicalElement(text: string): string | undefined {
  if (text.length < 2) throw new Error("key must be 2 characters long:");
  if (text.charAt(1) !== ":") throw new Error(`missing colon: ${text}`);
  switch (text.charAt(0)) {
    case "f":
      return text;
    case "k":
      return CANONICAL_KEY.test(text) ? text : canonicalKey(text);
    case "v":
      return `v:${canonicalJson(text.slice(2))}`;
    case "i":
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new Error(`invalid index: ${text}`);
      return `i:${Number(text.slice(2))}`;
    default:
      return undefined;
  }
}

function canonicalKey(text: string): string {
  const key: unknown = JSON.parse(text.slice(2));
  if (!isJsonObject(key)) throw new Error(`a key must be an object: ${text}`);
  const fields = Object.keys(key).toSorted();
  return `k:{${fields.map((name) => `${stringText(name)}:${scalarText(key[name])}`).join(",")}}`;
}

/** JSON in canonical form. Integers keep all their digits. */
function canonicalJson(text: string): string {
  return /^-?(?:0|[1-9]\d*)$/.test(text) ? text : scalarText(JSON.parse(text));
}

/** Elements in upstream's order: fields, keys, values, indexes; each by content, numbers by value. */
export function sortElements(elements: readonly string[]): readonly string[] {
  if (elements.every((element) => ORDERED_AS_TEXT.test(element))) {
    return isSorted(elements) ? elements : elements.toSorted(compareNames);
  }
  return elements
    .map((element) => ({ element, rank: RANKS.indexOf(element.charAt(0)), content: contentOf(element) }))
    .toSorted((left, right) => left.rank - right.rank || compareContent(left.content, right.content))
    .map(({ element }) => element);
}

const RANKS = ".fkvi";

function isFieldOrSelf(element: string): boolean {
  return element === SELF || element.startsWith("f:");
}

function contentOf(element: string): unknown {
  const text = element.slice(2);
  if (isFieldOrSelf(element)) return text;
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? Object.entries(value).flat() : value;
}

function compareContent(left: unknown, right: unknown): number {
  if (Array.isArray(left) && Array.isArray(right)) return compareLists(left, right);
  const byType = typeRank(left) - typeRank(right);
  if (byType !== 0) return byType;
  if (typeof left === "number" && typeof right === "number") return left - right;
  return compareNames(String(left as string | boolean), String(right as string | boolean));
}

function compareLists(left: readonly unknown[], right: readonly unknown[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = compareContent(left[at], right[at]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function typeRank(value: unknown): number {
  return ["number", "string", "boolean", "object"].indexOf(typeof value);
}

/** The element as messages show it: `.name`, `[name="web"]`, `[="value"]`, `[0]`. */
export function elementText(element: string): string {
  const content = element.slice(2);
  switch (element.charAt(0)) {
    case "f":
      return `.${content}`;
    case "k": {
      const fields = Object.entries(JSON.parse(content) as JsonObject);
      return `[${fields.map(([name, value]) => `${name}=${valueText(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${valueText(JSON.parse(content))}]`;
    default:
      return `[${content}]`;
  }
}

function valueText(value: unknown): string {
  return typeof value === "string" ? quoted(value) : String(value as number | boolean | null);
}
