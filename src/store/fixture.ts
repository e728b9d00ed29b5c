/** What tests of the store and of those who write to it have in common. */
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";

/** Settles each batch when the test says so. */
export class HeldBackend implements Backend {
  readonly batches: { revisions: number[]; succeed: () => void; fail: (error: Error) => void }[] = [];

  commit(batch: readonly Commit[]): Promise<void> {
    return new Promise((succeed, fail) => {
      this.batches.push({ revisions: batch.map(({ revision }) => revision), succeed, fail });
    });
  }

  async compact(): Promise<void> {}

  async close(): Promise<void> {}
}
