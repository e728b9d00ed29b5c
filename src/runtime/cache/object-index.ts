/** Objects by a value that is found in them, such as the uid of an owner, each list in order of namespace and name. */
import type { ApiObject } from "../../api/api-object.ts";
import { SortedMap } from "../../base/collections/sorted-map.ts";
import type { IndexFunction } from "./cache-view.ts";

/**
 * The place of an object; one for each key, shared by everything that finds it. A newer state of the object takes the place of the older one
 * in it, so that most changes move nothing.
 */
export interface Held<T extends ApiObject> {
  /** See cache-key.ts. */
  readonly key: string;
  object: T;
}

/** Most values have one object: that is kept without a tree of its own, which would cost more than the object's place. */
type Bucket<T extends ApiObject> = Held<T> | Shelf<T>;

interface Shelf<T extends ApiObject> {
  order: SortedMap<Held<T>>;
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

  add(held: Held<T>): void {
    for (const value of this.#valuesOf(held.object)) this.#add(value, held);
  }

  remove(held: Held<T>): void {
    for (const value of this.#valuesOf(held.object)) this.#remove(value, held);
  }

  /** Another object, or another state of it, is in the place where `before` was. */
  replace(before: T, held: Held<T>): void {
    const [old, values] = [this.#valuesOf(before), this.#valuesOf(held.object)];
    const [isOld, isNew] = [membership(old), membership(values)];
    for (const value of old) if (!isNew(value)) this.#remove(value, held);
    for (const value of values) {
      if (isOld(value)) this.#outdate(value);
      else this.#add(value, held);
    }
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

  /** A list that was handed out stays as it is; whoever asks next gets another one. */
  #outdate(value: string): void {
    const bucket = this.#buckets.get(value);
    if (bucket !== undefined && isShelf(bucket)) bucket.list = undefined;
  }

  #add(value: string, held: Held<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, held);
    else if (isShelf(bucket)) {
      bucket.order = bucket.order.set(held);
      bucket.list = undefined;
    } else if (bucket !== held) {
      this.#buckets.set(value, { order: SortedMap.fromSorted([bucket]).set(held), list: undefined });
    }
  }

  #remove(value: string, { key }: Held<T>): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    if (!isShelf(bucket)) {
      if (bucket.key === key) this.#buckets.delete(value);
      return;
    }
    bucket.order = bucket.order.delete(key);
    bucket.list = undefined;
    if (bucket.order.size === 0) this.#buckets.delete(value);
  }
}

/** More values are not looked through for each value: whoever writes an object says how many owners it has. */
const FEW = 16;

function membership(values: readonly string[]): (value: string) => boolean {
  if (values.length <= FEW) return (value) => values.includes(value);
  const all = new Set(values);
  return (value) => all.has(value);
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
  return order.list(from, to).map(({ object }) => object);
}
