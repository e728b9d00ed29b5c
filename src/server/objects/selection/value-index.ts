/**
 * Lists the objects of a resource by the value of one attribute. It answers for any view: for views older than the
 * index, the objects that differ are candidates too.
 */
import { SortedMap } from "../../../base/collections/sorted-map.ts";
import type { YieldingWork } from "../../../base/loop/yielding-work.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Entry, View } from "../../../store/store.ts";
import { EntryFollower } from "../entry-follower.ts";
import { findReadable } from "../stored-object.ts";

/** Keys with `from <= key < to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

/** Position of an object in the index. */
interface Place {
  readonly key: string;
  readonly value: string;
}

/** Estimated memory of one object, and of one distinct value; measured with 150,000 pods. */
const PLACE_BYTES = 100;
const VALUE_BYTES = 400;

/** Keys of several values are sorted in one step. Above this number a scan, which has slices, is better. */
const SORTED_MAX = 10_000;

export class ValueIndex {
  readonly #valueOf: (object: ApiObject) => string | undefined;
  readonly #byValue = new Map<string, SortedMap<Place>>();
  readonly #byKey = new Map<string, Place>();
  readonly #follower: EntryFollower;

  constructor(prefix: string, valueOf: (object: ApiObject) => string | undefined) {
    this.#valueOf = valueOf;
    this.#follower = new EntryFollower({
      prefix,
      apply: (changes) => {
        for (const { before, after } of changes) {
          if (after !== undefined) this.#put(after);
          else if (before !== undefined) this.#remove(before.key);
        }
      },
    });
  }

  get bytes(): number {
    return this.#byKey.size * PLACE_BYTES + this.#byValue.size * VALUE_BYTES;
  }

  /** Undefined once the index can be read; otherwise settles when it can. */
  ready(view: View, turn: () => Promise<void>): Promise<void> | undefined {
    return this.#follower.ready(view, turn);
  }

  /** Brings the index to the view, unless it is already newer or still makes its first read. */
  keepUp(view: View): void {
    this.#follower.finish();
    if (this.#isBehind(view)) this.#follower.catchUp(view);
  }

  /** The same in pieces. Returns true if there were changes. */
  *keepUpInPieces(view: View): YieldingWork<boolean> {
    if (!this.#follower.hasBegun || !this.#isBehind(view)) return false;
    return yield* this.#follower.catchUpInPieces(view);
  }

  #isBehind(view: View): boolean {
    return view.revision > this.#follower.revision && !this.#follower.isBeginning;
  }

  /** Number of indexed objects with one of the values. */
  count(values: readonly string[], { from, to }: KeyRange): number {
    let count = 0;
    for (const value of values) count += this.#byValue.get(value)?.count(from, to) ?? 0;
    return count;
  }

  /**
   * In ascending order, the keys of all objects of the view that have one of the values. Some keys may be absent from the view, or
   * have another value in it. Undefined where a scan is better.
   */
  candidates(view: View, values: readonly string[], range: KeyRange): Iterable<Keyed> | undefined {
    this.keepUp(view);
    const others = view.revision === this.#follower.revision ? [] : [...this.#follower.differing(view)];
    const distinct = [...new Set(values)];
    const [first] = distinct;
    const { from, to } = range;
    if (others.length === 0 && distinct.length === 1 && first !== undefined)
      return this.#byValue.get(first)?.range(from, to) ?? [];
    if (this.count(distinct, range) + others.length > SORTED_MAX) return undefined;
    const found = new Set(
      distinct.flatMap((value) => this.#byValue.get(value)?.list(from, to).map(keyOf) ?? []),
    );
    for (const key of others) if (key >= from && key < to) found.add(key);
    return [...found].sort().map((key) => ({ key }));
  }

  /** Most writes leave the value as it is. They cost one lookup. */
  #put(entry: Entry): void {
    const object = findReadable(entry);
    const value = object === undefined ? undefined : this.#valueOf(object);
    const { key } = entry;
    if (this.#byKey.get(key)?.value === value) return;
    this.#remove(key);
    if (value === undefined) return;
    const place = { key, value };
    this.#byKey.set(key, place);
    this.#byValue.set(value, (this.#byValue.get(value) ?? SortedMap.empty<Place>()).set(place));
  }

  #remove(key: string): void {
    const place = this.#byKey.get(key);
    if (place === undefined) return;
    this.#byKey.delete(key);
    const rest = this.#byValue.get(place.value)?.delete(key);
    if (rest === undefined || rest.size === 0) this.#byValue.delete(place.value);
    else this.#byValue.set(place.value, rest);
  }
}

interface Keyed {
  readonly key: string;
}

function keyOf({ key }: Keyed): string {
  return key;
}
