/** Objects by a value that is found in them, such as the uid of an owner, each list in order of namespace and name. */
import type { ApiObject } from "../api/api-object.ts";
import { SortedMap } from "../base/sorted-map.ts";
import type { IndexFunction } from "./cache-view.ts";

/** An object in its place; one for each object, shared by everything that finds it. */
export interface Held<T extends ApiObject> {
  /** See cache-key.ts. */
  readonly key: string;
  readonly object: T;
}

/** Most values have one object: that is kept without a tree of its own, which would cost more than the object's place. */
type Bucket<T extends ApiObject> = Held<T> | Shelf<T>;

interface Shelf<T extends ApiObject> {
  readonly order: SortedMap<Held<T>>;
  /** Made when first asked for. */
  list: readonly T[] | undefined;
}

export class ObjectIndex<T extends ApiObject> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #buckets = new Map<string, Bucket<T>>();

  /** The function always gives the same values for an object. */
  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  /** Takes an object in, out, or another in its place. */
  change(before: Held<T> | undefined, after: Held<T> | undefined): void {
    const values = after === undefined ? [] : this.#valuesOf(after.object);
    if (before !== undefined) {
      for (const value of this.#valuesOf(before.object))
        if (!values.includes(value)) this.#remove(value, before);
    }
    if (after !== undefined) for (const value of values) this.#add(value, after);
  }

  find(value: string): readonly T[] {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return [];
    if (!isShelf(bucket)) return [bucket.object];
    bucket.list ??= objectsOf(bucket.order);
    return bucket.list;
  }

  count(value: string): number {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return 0;
    return isShelf(bucket) ? bucket.order.size : 1;
  }

  #add(value: string, held: Held<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined || (!isShelf(bucket) && bucket.key === held.key)) {
      this.#buckets.set(value, held);
      return;
    }
    const order = isShelf(bucket) ? bucket.order : SortedMap.fromSorted([bucket]);
    this.#buckets.set(value, { order: order.set(held), list: undefined });
  }

  #remove(value: string, { key }: Held<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    if (!isShelf(bucket)) {
      if (bucket.key === key) this.#buckets.delete(value);
      return;
    }
    const order = bucket.order.delete(key);
    if (order.size === 0) this.#buckets.delete(value);
    else this.#buckets.set(value, { order, list: undefined });
  }
}

function isShelf<T extends ApiObject>(bucket: Bucket<T>): bucket is Shelf<T> {
  return "order" in bucket;
}

/** Above every key. */
const LAST = "\uffff";

export function objectsOf<T extends ApiObject>(
  order: SortedMap<Held<T>>,
  [from, to]: readonly [string, string] = ["", LAST],
): readonly T[] {
  const objects: T[] = [];
  for (const { object } of order.range(from, to)) objects.push(object);
  return objects;
}
