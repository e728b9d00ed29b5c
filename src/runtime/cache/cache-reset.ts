/** The steps of a reset: the wanted content in order, and its comparison with the cached content. */
import type { ApiObject } from "../../api/api-object.ts";
import { SortedMap } from "../../base/collections/sorted-map.ts";
import { inSlices, SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import { keyOfObject } from "../refs/cache-key.ts";
import { LAST } from "./object-index.ts";
import type { CacheEntry } from "./object-index.ts";

/** In order of keys; of several objects with one key, the last. Lists of servers are nearly in this order. */
export function* inOrder<T extends ApiObject>(objects: readonly T[]): YieldingWork<SortedMap<CacheEntry<T>>> {
  const ascending: CacheEntry<T>[] = [];
  const others: CacheEntry<T>[] = [];
  yield* inSlices(objects, (object) => {
    const entry = { key: keyOfObject(object), object };
    const last = ascending.at(-1);
    (last === undefined || last.key < entry.key ? ascending : others).push(entry);
  });
  const order = SortedMap.fromSorted(ascending).edit();
  yield* inSlices(others, (entry) => order.set(entry));
  return order.map();
}

/** The cached and the wanted entry of one key. */
export interface Pair<T extends ApiObject> {
  readonly old: CacheEntry<T> | undefined;
  readonly wanted: CacheEntry<T> | undefined;
}

/** Walks both in order. */
export function* pairsOf<T extends ApiObject>(
  before: SortedMap<CacheEntry<T>>,
  after: SortedMap<CacheEntry<T>>,
): Generator<Pair<T>, void> {
  const rest = before.range("", LAST);
  let old = rest.next();
  for (const wanted of after.range("", LAST)) {
    for (; old.done !== true && old.value.key < wanted.key; old = rest.next())
      yield { old: old.value, wanted: undefined };
    const known = old.done !== true && old.value.key === wanted.key ? old.value : undefined;
    yield { old: known, wanted };
    if (known !== undefined) old = rest.next();
  }
  for (; old.done !== true; old = rest.next()) yield { old: old.value, wanted: undefined };
}

/** Slices of at most SLICE_ITEMS items. */
export function* slicesOf<T>(items: Iterable<T>): Generator<readonly T[], void> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < SLICE_ITEMS) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
