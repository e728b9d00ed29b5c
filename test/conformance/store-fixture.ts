/**
 * World of a store test: an engine that makes fresh stores, and time around each store; every wait for a condition is bounded.
 */
import type { Loop } from "../../src/base/loop/loop.ts";
import type { Store } from "../../src/store/store.ts";

/** Properties in which engines may differ under the contract. */
export interface StoreEngine {
  readonly name: string;
  /** A time to live that the engine supports; tests use multiples of it. */
  readonly ttlUnitMs: number;
  /** Upper bound of everything that the contract calls "soon". Generous: only a failing test reaches it. */
  readonly waitMs: number;
  /** Number of unread 8 KiB events after which a watcher is surely dropped. */
  readonly slowAfterEvents: number;
  /** Number of transactions in the load test. */
  readonly loadTransactions: number;
  /** Number of random sequences in the test of the quota. */
  readonly quotaRuns: number;
  /** Whether acknowledged writes are still there after `reopen`. */
  readonly durability: "none" | "durable";
  /** Whether all history is kept until a compaction; a short window may answer `Compacted` at any time. */
  readonly window: "whole" | "short";
  /** Whether several stores can use the same data at once (`join`). */
  readonly sharing: "alone" | "shared";
  /** Opens a new, empty store. The seed decides the order of steps on a virtual loop. */
  open(seed?: number): Promise<StoreFixture>;
  /** The same with a quota. */
  openWithin(quotaBytes: number): Promise<StoreFixture>;
}

export interface StoreFixture extends AsyncDisposable {
  /** The current store; replaced by `reopen`. */
  readonly store: Store;
  readonly loop: Loop;
  /** Prefix of all keys of a test; ends with a slash. */
  readonly root: string;
  /** Bound for `until`. */
  readonly waitMs: number;
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
  /** Another store on the same data. */
  join(): Promise<Store>;
  /** Advances time and runs everything that is due. With 0, runs everything that is ready. */
  pass(ms: number): Promise<void>;
}

/** Waits for a condition; fails with `what` when the bound is reached. */
export async function until(world: StoreFixture, what: string, condition: () => boolean): Promise<void> {
  const start = world.loop.elapsed();
  while (!condition()) {
    if (world.loop.elapsed() - start > world.waitMs)
      throw new Error(`not within ${world.waitMs} ms: ${what}`);
    await world.pass(2);
  }
  // Readers of promises that settled with the condition have run after this.
  await world.pass(0);
}
