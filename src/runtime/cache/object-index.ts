/** Index of objects by a value, for example the uid of an owner. Each list is in order of namespace and name. */
import type { ApiObject } from "../../api/api-object.ts";
import { SortedMap } from "../../base/collections/sorted-map.ts";
import type { SortedMapEditor } from "../../base/collections/sorted-map.ts";
import type { IndexFunction } from "./cache-view.ts";

/**
 * Entry of an object. Each key has one entry, which all indexes share. A newer state replaces the object in the
 * entry, so that most changes touch no index.
 */
export interface CacheEntry<T extends ApiObject> {
  /** Text of namespace and name; see cache-key.ts. */
  readonly key: string;
  object: T;
}

/** Most values have a single object. It is kept without a tree, which would cost more than the entry. */
type Bucket<T extends ApiObject> = CacheEntry<T> | SharedBucket<T>;

interface SharedBucket<T extends ApiObject> {
  readonly order: SortedMapEditor<CacheEntry<T>>;
  /** Created on demand. */
  list: readonly T[] | undefined;
}

export class ObjectIndex<T extends ApiObject> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #buckets = new Map<string, Bucket<T>>();

  /** The function must return the same values for the same object each time. */
  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  /** Adds all entries to the empty index, several times faster than single additions. They are in order of keys. */
  fill(entries: Iterable<CacheEntry<T>>): void {
    const byValue = new Map<string, CacheEntry<T>[]>();
    for (const entry of entries) {
      for (const value of this.#valuesOf(entry.object)) {
        const found = byValue.get(value);
        if (found === undefined) byValue.set(value, [entry]);
        else if (found.at(-1) !== entry) found.push(entry);
      }
    }
    for (const [value, found] of byValue) {
      const [only] = found;
      if (found.length === 1 && only !== undefined) this.#buckets.set(value, only);
      else this.#buckets.set(value, shared(found));
    }
  }

  /** The values under which objects are found, in no particular order. */
  values(): Iterable<string> {
    return this.#buckets.keys();
  }

  add(entry: CacheEntry<T>): void {
    for (const value of this.#valuesOf(entry.object)) this.#add(value, entry);
  }

  remove(entry: CacheEntry<T>): void {
    for (const value of this.#valuesOf(entry.object)) this.#remove(value, entry);
  }

  /** Updates the index after the entry's object changed from `before`. */
  replace(before: T, entry: CacheEntry<T>): void {
    const [old, values] = [this.#valuesOf(before), this.#valuesOf(entry.object)];
    const [isOld, isNew] = [membership(old), membership(values)];
    for (const value of old) if (!isNew(value)) this.#remove(value, entry);
    for (const value of values) {
      if (isOld(value)) this.#dropList(value);
      else this.#add(value, entry);
    }
  }

  find(value: string): readonly T[] {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return [];
    if (!isShared(bucket)) return [bucket.object];
    bucket.list ??= bucket.order.list("", LAST).map(({ object }) => object);
    return bucket.list;
  }

  count(value: string): number {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return 0;
    return isShared(bucket) ? bucket.order.size : 1;
  }

  /** Drops the cached list of a value. Callers that hold it keep it unchanged. */
  #dropList(value: string): void {
    const bucket = this.#buckets.get(value);
    if (bucket !== undefined && isShared(bucket)) bucket.list = undefined;
  }

  #add(value: string, entry: CacheEntry<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, entry);
    else if (isShared(bucket)) {
      bucket.order.set(entry);
      bucket.list = undefined;
    } else if (bucket !== entry) {
      const both = shared([bucket]);
      both.order.set(entry);
      this.#buckets.set(value, both);
    }
  }

  #remove(value: string, { key }: CacheEntry<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    if (!isShared(bucket)) {
      if (bucket.key === key) this.#buckets.delete(value);
      return;
    }
    bucket.order.delete(key);
    bucket.list = undefined;
    if (bucket.order.size === 0) this.#buckets.delete(value);
  }
}

/** Above this a set replaces the scan: the writer of an object decides how many owners it has. */
const FEW = 16;

function membership(values: readonly string[]): (value: string) => boolean {
  if (values.length <= FEW) return (value) => values.includes(value);
  const all = new Set(values);
  return (value) => all.has(value);
}

function shared<T extends ApiObject>(entries: readonly CacheEntry<T>[]): SharedBucket<T> {
  return { order: SortedMap.fromSorted(entries).edit(), list: undefined };
}

function isShared<T extends ApiObject>(bucket: Bucket<T>): bucket is SharedBucket<T> {
  return "order" in bucket;
}

/** Sorts after every key. */
export const LAST = "\uffff";

export function objectsOf<T extends ApiObject>(
  order: SortedMap<CacheEntry<T>>,
  [from, to]: readonly [string, string] = ["", LAST],
): readonly T[] {
  return order.list(from, to).map(({ object }) => object);
}
