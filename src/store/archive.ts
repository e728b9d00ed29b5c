/** History that is older than what memory keeps. */
import type { Commit } from "./commit.ts";

export interface ArchivePiece {
  /** In order of revision; `events` may hold more keys than asked for, never fewer. */
  readonly commits: readonly Pick<Commit, "revision" | "events">[];
  /** All commits up to this revision are in here; at least one more than `after`. */
  readonly through: number;
}

export interface Archive {
  /** Reads after an older revision than this answer `Compacted`. Only grows. */
  readonly floor: number;

  /**
   * Commits with `after < revision <= upTo`, from the oldest on, as many as fit a bounded piece.
   * Throws StoreError `Compacted` when the commit after `after` is gone.
   */
  read(after: number, upTo: number): Promise<ArchivePiece>;
}
