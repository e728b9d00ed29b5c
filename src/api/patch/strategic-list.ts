/**
 * Merges and orders lists for strategic merge patch, in linear time. The order of the result equals upstream's. Items
 * in the patch have the patch's order (or that of `$setElementOrder`); other items keep their own order. Both sequences are
 * merged by position in the live list. A patch item comes first if the live list does not have it.
 *   live [a, b, c], patch [c, x]  →  [a, b, c, x]
 */
import { badRequest } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import type { Schema } from "../schema/schema.ts";
import { goText } from "./go-text.ts";
import { unprocessablePatch } from "./patch-error.ts";

export const DIRECTIVE = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const SET_ORDER = "$setElementOrder";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList";

export type MergeMaps = (original: JsonObject, patch: JsonObject, schema: Schema | undefined) => JsonObject;

export interface ListPatchRule {
  readonly items: Schema | undefined;
  /** True if the lists merge. Otherwise the patch's list replaces the live one. */
  readonly merges: boolean;
  /** Empty for lists of scalars. */
  readonly mergeKey: string;
}

export interface ListMerge extends ListPatchRule {
  readonly mergeMaps: MergeMaps;
}

type List = readonly unknown[];

export function mergeLists(original: List, patch: List, rule: ListMerge): List {
  if (original.length === 0 && patch.length === 0) return original;
  if (!areMaps(original, patch)) return mergeScalars(original, patch);
  if (rule.mergeKey === "") throw badRequest("cannot merge lists without merge key for type struct");
  const { live, wanted } = applyItemDirectives(original, patch, rule.mergeKey);
  const merged = mergeItems(live, wanted, rule);
  return arranged(merged, { patchOrder: wanted, liveOrder: live, keyOf: itemKey(rule.mergeKey) });
}

/** The live list merged with the patch's list, if any, in the order that the patch prescribes. */
export function orderedList(
  lists: { readonly original: List | undefined; readonly patch: List | undefined; readonly order: List },
  rule: ListMerge,
): List {
  const { original, patch = [], order } = lists;
  checkOrder(patch, order, rule.mergeKey);
  const merged = mergedForOrder(original, patch, rule);
  const keyOf = rule.mergeKey === "" ? scalarKey : itemKey(rule.mergeKey);
  return arranged(merged, { patchOrder: order, liveOrder: orderBehind(original ?? [], patch, rule), keyOf });
}

/**
 * The live list that determines the order. Upstream reuses the list's memory: new items appear at its end as far as
 * deleted items left room. The result has the same order.
 */
function orderBehind(original: List, patch: List, { merges, mergeKey }: ListMerge): List {
  if (!merges || mergeKey === "" || patch.length === 0 || !areMaps(original, patch)) return original;
  const { live, wanted } = applyItemDirectives(original, patch, mergeKey);
  const room = original.length - live.length;
  if (room <= 0 || wanted.length === 0) return original;
  const places = firstPlaces(live, (item) => looseKey(item, mergeKey));
  const added = wanted.filter((item) => !places.has(itemKey(mergeKey)(item)));
  return [...live, ...added.slice(0, room)];
}

function mergedForOrder(original: List | undefined, patch: List, rule: ListMerge): List {
  if (original === undefined) return keptItems(patch);
  if (patch.length === 0) return original;
  return rule.merges ? mergeLists(original, patch, rule) : patch;
}

/**
 * The value without maps that contain a directive. Undefined if the value is one itself. A new value has no content
 * that a directive could delete or replace.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return keptItems(value);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = withoutDirectives(value[key]);
    if (member !== undefined) setOwn(kept, key, member);
  }
  return kept;
}

function keptItems(list: List): List {
  return list.map(withoutDirectives).filter((item) => item !== undefined);
}

function mergeScalars(original: List, patch: List): List {
  const both = [...original, ...patch];
  const unique = [...new Map(both.map((item) => [scalarKey(item), item])).values()];
  return arranged(unique, { patchOrder: patch, liveOrder: original, keyOf: scalarKey });
}

/** An item with `$patch: delete` deletes the items with its key; one with `$patch: replace` replaces the whole list. */
function applyItemDirectives(original: List, patch: List, mergeKey: string): { live: List; wanted: List } {
  const keyOf = itemKey(mergeKey);
  const wanted: unknown[] = [];
  const deleted = new Set<string>();
  let replaces = false;
  for (const item of patch) {
    const directive = isJsonObject(item) && Object.hasOwn(item, DIRECTIVE) ? item[DIRECTIVE] : undefined;
    if (directive === undefined) wanted.push(item);
    else if (directive === "delete") deleted.add(keyOf(item));
    else if (directive === "replace") replaces = true;
    else if (directive === "merge") throw badRequest("merging lists cannot yet be specified in the patch");
    else throw unknownDirective();
  }
  if (replaces) return { live: wanted, wanted: [] };
  return { live: original.filter((item) => !deleted.has(looseKey(item, mergeKey))), wanted };
}

/** Upstream's message shows the map, which may be the content of a Secret. */
export function unknownDirective(): Error {
  return badRequest(`unknown patch type in ${DIRECTIVE}: use "replace" or "delete"`);
}

/** Merges each patch item into the first live item with its key, or appends it. */
function mergeItems(live: List, wanted: List, { mergeKey, items, mergeMaps }: ListMerge): List {
  const merged = [...live];
  const places = firstPlaces(live, (item) => looseKey(item, mergeKey));
  const keyOf = itemKey(mergeKey);
  for (const item of wanted) {
    const key = keyOf(item);
    const at = places.get(key);
    if (at === undefined) {
      places.set(key, merged.push(item) - 1);
    } else {
      merged[at] = mergeMaps(merged[at] as JsonObject, item as JsonObject, items);
    }
  }
  return merged;
}

interface Arrangement {
  readonly patchOrder: List;
  readonly liveOrder: List;
  readonly keyOf: (item: unknown) => string;
}

function arranged(list: List, { patchOrder, liveOrder, keyOf }: Arrangement): List {
  const patchPlaces = firstPlaces(patchOrder, keyOf);
  const livePlaces = firstPlaces(liveOrder, keyOf);
  const isPatched = (item: unknown): boolean => patchPlaces.has(keyOf(item));
  const placeIn = (places: ReadonlyMap<string, number>) => (item: unknown) =>
    places.get(keyOf(item)) ?? Number.MAX_SAFE_INTEGER;
  const fromPatch = sortedBy(list.filter(isPatched), placeIn(patchPlaces));
  const others = sortedBy(
    list.filter((item) => !isPatched(item)),
    placeIn(livePlaces),
  );
  const result: unknown[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const place = livePlaces.get(keyOf(item));
    while (place !== undefined && next < others.length) {
      const other = livePlaces.get(keyOf(others[next]));
      if (other === undefined || other >= place) break;
      result.push(others[next++]);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function sortedBy(list: List, placeOf: (item: unknown) => number): List {
  const placed = list.map((item) => ({ item, place: placeOf(item) }));
  return placed.toSorted((left, right) => left.place - right.place).map(({ item }) => item);
}

function firstPlaces(list: List, keyOf: (item: unknown) => string): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = 0; at < list.length; at++) {
    const key = keyOf(list[at]);
    if (!places.has(key)) places.set(key, at);
  }
  return places;
}

/** Checks that `$setElementOrder` lists all items of the patch, in the patch's order. */
function checkOrder(patch: List, order: List, mergeKey: string): void {
  if (order.length === 0 || patch.length === 0) return;
  const keyOf = mergeKey === "" ? scalarKey : itemKey(mergeKey);
  let at = 0;
  for (const item of patch) {
    if (isJsonObject(item) && Object.hasOwn(item, DIRECTIVE)) continue;
    const key = keyOf(item);
    while (at < order.length && keyOf(order[at]) !== key) at++;
    if (at === order.length) throw badRequest(orderMismatch(patch, order));
    at++;
  }
}

function orderMismatch(patch: List, order: List): string {
  return `The order in patch list:\n${goText(patch)}\n doesn't match ${SET_ORDER} list:\n${goText(order)}\n`;
}

/** True if the lists contain maps, false if scalars. Throws if the items have different types. */
function areMaps(original: List, patch: List): boolean {
  const types = new Set([...original, ...patch].map(typeWord));
  if (types.has("list")) throw unprocessablePatch("lists of lists are not supported");
  if (types.size > 1) throw badRequest(`list element types are not identical: ${goText([original, patch])}`);
  return types.has("map");
}

function typeWord(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (isJsonObject(value)) return "map";
  return typeof value === "bigint" ? "number" : typeof value;
}

/** Throws for an item without its key. */
function itemKey(mergeKey: string): (item: unknown) => string {
  return (item) => {
    if (!isJsonObject(item))
      throw badRequest(`expected a map[string]interface {}, but received a ${typeWord(item)}`);
    if (!Object.hasOwn(item, mergeKey)) {
      throw badRequest(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
    }
    return stringifyJson(item[mergeKey]);
  };
}

/** Key of a live item. A live item without a key is not the client's error: it matches no patch item. */
function looseKey(item: unknown, mergeKey: string): string {
  return isJsonObject(item) && Object.hasOwn(item, mergeKey) ? stringifyJson(item[mergeKey]) : "";
}

function scalarKey(item: unknown): string {
  return stringifyJson(item);
}
