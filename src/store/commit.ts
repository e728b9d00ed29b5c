/** A commit: the changes of one transaction. The backend, the history and the watchers share this value. */
import type { WatchEvent } from "./store.ts";

export interface Commit {
  readonly revision: number;
  /** Loop.now of the transaction; the history uses it as the commit's age. */
  readonly time: number;
  /** At least one event; each key at most once; `after.ordinal` is the index in this list. */
  readonly events: readonly WatchEvent[];
  /** Number of live keys after the commit, and the sum of their row ids modulo 2^52. A reader detects a missing row by them. */
  readonly liveCount: number;
  readonly liveSum: number;
}
