/**
 * Which keys end by themselves, in the order of their ends; an immutable value, so that a fork takes it along for nothing.
 * Ends are rounded up to whole seconds: many keys share a timer, and none ends early.
 */
import { SortedMap } from "../base/collections/sorted-map.ts";
import type { WatchEvent } from "./store.ts";

interface End {
  /** The time, padded so that text order is time order, and the store's key. */
  readonly key: string;
  readonly storeKey: string;
  readonly at: number;
}

const GRAIN_MS = 1000;
/** Digits of the largest time in milliseconds that a number holds exactly. */
const TIME_DIGITS = 16;

export class Expiry {
  readonly #ends: SortedMap<End>;

  constructor(ends: SortedMap<End> = SortedMap.empty()) {
    this.#ends = ends;
  }

  /** Follows a change: the old end of the key no longer counts, the new one does. */
  after({ key, before, after }: Pick<WatchEvent, "key" | "before" | "after">): Expiry {
    if (before?.expiresAt === undefined && after?.expiresAt === undefined) return this;
    let ends = this.#ends;
    if (before?.expiresAt !== undefined) ends = ends.delete(endOf(key, before.expiresAt).key);
    if (after?.expiresAt !== undefined) ends = ends.set(endOf(key, after.expiresAt));
    return new Expiry(ends);
  }

  /** When the next key ends. */
  get next(): number | undefined {
    for (const end of this.#ends.range("", "~")) return end.at;
    return undefined;
  }

  /** Up to `limit` keys whose time has come. */
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
