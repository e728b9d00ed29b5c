/**
 * How strategic merge patch merges and orders lists. All steps are linear: items are found by the text of their
 * key, never by scanning.
 *
 * Order of the result, as upstream has it: the items that the patch names stand in the patch's order (or that of
 * `$setElementOrder`), the others in theirs; the two are then zipped by their places in the live list, a patch item
 * going first when they have none in common.
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
  /** The list merges; otherwise the patch's list replaces it. */
  readonly merges: boolean;
  /** Empty for scalars. */
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

/** The list that a patch gives an order to, merged with the patch's list if there is one. */
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
 * The live list that the order is made by. As upstream, which works in the same memory: new items are in it, behind the others, as long
 * as deleted ones have left them room.
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
 * The value without maps that are directives to delete or replace; `undefined` when it is one itself. A place
 * that was empty has nothing to direct.
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

/** Items may say `$patch: delete` of their like, or `$patch: replace` of the whole list. */
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

/** Upstream shows the map, which may be the content of a Secret. */
export function unknownDirective(): Error {
  return badRequest(`unknown patch type in ${DIRECTIVE}: use "replace" or "delete"`);
}

/** Each wanted item merges into the first live one of its key, or joins the end. */
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

/** The patch's items come in the order that `$setElementOrder` gives, and it names all of them. */
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

/** Whether the lists hold maps; otherwise they hold scalars. All items must be of one type. */
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

/** Of a live item, which is not the client's fault: without its key it matches nothing. */
function looseKey(item: unknown, mergeKey: string): string {
  return isJsonObject(item) && Object.hasOwn(item, mergeKey) ? stringifyJson(item[mergeKey]) : "";
}

function scalarKey(item: unknown): string {
  return stringifyJson(item);
}
