/**
 * Keys with an expiry time, in order of that time; an immutable value, so that a fork can share it. Times are rounded
 * up to whole seconds: many keys share a timer, and none expires early.
 */
import { SortedMap } from "../base/collections/sorted-map.ts";
import type { WatchEvent } from "./store.ts";

interface End {
  /** Time padded so that text order is time order, then the store's key. */
  readonly key: string;
  readonly storeKey: string;
  readonly at: number;
}

const GRAIN_MS = 1000;
/** Digits of the largest millisecond time that a number represents exactly. */
const TIME_DIGITS = 16;

export class Expiry {
  readonly #ends: SortedMap<End>;

  constructor(ends: SortedMap<End> = SortedMap.empty()) {
    this.#ends = ends;
  }

  /** Applies a change: replaces the old expiry of the key by the new one. */
  after({ key, before, after }: Pick<WatchEvent, "key" | "before" | "after">): Expiry {
    if (before?.expiresAt === undefined && after?.expiresAt === undefined) return this;
    let ends = this.#ends;
    if (before?.expiresAt !== undefined) ends = ends.delete(endOf(key, before.expiresAt).key);
    if (after?.expiresAt !== undefined) ends = ends.set(endOf(key, after.expiresAt));
    return new Expiry(ends);
  }

  /** Time at which the next key expires. */
  get next(): number | undefined {
    for (const end of this.#ends.range("", "~")) return end.at;
    return undefined;
  }

  /** Up to `limit` keys that have expired. */
  ended(now: number, limit: number): string[] {
    const keys: string[] = [];
    for (const end of this.#ends.range("", padded(now + 1))) {
      keys.push(end.storeKey);
      if (keys.length === limit) break;
    }
    return keys;
  }
}

function endOf(storeKey: string, expiresAt: number): End {
  const at = Math.ceil(expiresAt / GRAIN_MS) * GRAIN_MS;
  return { key: padded(at) + storeKey, storeKey, at };
}

function padded(time: number): string {
  return String(Math.max(0, Math.floor(time))).padStart(TIME_DIGITS, "0");
}
