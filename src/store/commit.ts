/**
 * A commit: what one transaction did. The same value is made durable by the backend, kept in the history and handed to
 * the watchers.
 */
import type { WatchEvent } from "./store.ts";

export interface Commit {
  readonly revision: number;
  /** Loop.now when it was taken; ages the history. */
  readonly time: number;
  /** At least one; no key twice; `after.ordinal` is the index here. */
  readonly events: readonly WatchEvent[];
  /** Number of live keys after it, and the sum of their row ids modulo 2^52: lets a reader see that a row is missing. */
  readonly liveCount: number;
  readonly liveSum: number;
}
