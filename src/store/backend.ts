/**
 * Where the local engines (memory, file) keep commits. The LocalStore decides what a transaction does and when it becomes
 * visible; a backend only makes batches durable and remembers them.
 */
import type { Commit } from "./commit.ts";

export interface Backend {
  /**
   * Makes the batch durable, all of it or nothing. May be called again before it settled; batches take effect and settle in
   * the order of the calls, and behind one that failed nothing takes effect.
   * Rejects with StoreError `NoSpace` when nothing of the batch is on disk and a later one may succeed; with any other
   * error when the outcome is unknown, after which the process must end.
   */
  commit(batch: readonly Commit[]): Promise<void>;

  /** Forgets superseded values and deletions up to this revision, a bounded piece at a time; settles when all is done. */
  compact(revision: number): Promise<void>;

  close(): Promise<void>;
}
