/**
 * Durable storage of the local engines (memory, file). The LocalStore judges transactions and decides when they become
 * visible; a backend only makes batches durable and keeps them.
 */
import type { Commit } from "./commit.ts";

export interface Backend {
  /**
   * Makes the batch durable, all of it or nothing. Calls may overlap: batches take effect and settle in the order of
   * the calls, and none takes effect after a failed one. Rejects with StoreError `NoSpace` when nothing of the batch is
   * on disk and a later batch may succeed. Any other error means that the outcome is unknown; the process must then
   * end.
   */
  commit(batch: readonly Commit[]): Promise<void>;

  /** Deletes superseded values and deletion records up to this revision, in bounded pieces; settles when all are gone. */
  compact(revision: number): Promise<void>;

  close(): Promise<void>;
}
