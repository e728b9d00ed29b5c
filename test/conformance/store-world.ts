/**
 * What a test of the store contract stands on: an engine that makes fresh stores, and a world around each store in which time
 * passes and conditions are waited for, always with a bound.
 */
import type { Loop } from "../../src/base/loop/loop.ts";
import type { Store } from "../../src/store/store.ts";

/** What engines differ in without breaking the contract. */
export interface StoreEngine {
  readonly name: string;
  /** A time to live that the engine can keep; tests use multiples of it. */
  readonly ttlUnitMs: number;
  /** Bound on everything that the contract lets happen "soon". Generous: it only ends a test that fails. */
  readonly waitMs: number;
  /** How many 8 KiB events a watcher must have left lying to be surely dropped. */
  readonly slowAfterEvents: number;
  /** Transactions of the load test. */
  readonly loadTransactions: number;
  /** Whether what is acknowledged is still there after `reopen`. */
  readonly durability: "none" | "durable";
  /** Whether everything since the start is kept until someone compacts it; a short window may answer `Compacted` at any time. */
  readonly window: "whole" | "short";
  /** Whether several stores can work on the same data at a time (`join`). */
  readonly sharing: "alone" | "shared";
  /** A new, empty store. The seed decides the order of steps where the loop is virtual. */
  open(seed?: number): Promise<StoreWorld>;
  /** The same with a quota. */
  openWithin(quotaBytes: number): Promise<StoreWorld>;
}

export interface StoreWorld extends AsyncDisposable {
  /** After `reopen` this is the new one. */
  readonly store: Store;
  readonly loop: Loop;
  /** All keys of a test are below; ends with a slash. */
  readonly root: string;
  /** Bound for `until`. */
  readonly waitMs: number;
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
  /** Another store on the same data. */
  join(): Promise<Store>;
  /** Lets this much time go by, and whatever is due happen. With 0, whatever was ready to happen has happened. */
  pass(ms: number): Promise<void>;
}

/** Waits for a condition; fails with `what` when the bound is reached. */
export async function until(world: StoreWorld, what: string, condition: () => boolean): Promise<void> {
  const start = world.loop.elapsed();
  while (!condition()) {
    if (world.loop.elapsed() - start > world.waitMs)
      throw new Error(`not within ${world.waitMs} ms: ${what}`);
    await world.pass(2);
  }
  // Promises that were settled when the condition came true have reached their readers after this.
  await world.pass(0);
}
