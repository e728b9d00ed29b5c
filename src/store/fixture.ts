/** Fixtures shared by the tests of the store and of its writers. */
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";

/** A backend that settles each batch when the test says so. */
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
