/** History that is too old for memory. */
import type { Commit } from "./commit.ts";

export interface ArchivedCommit extends Pick<Commit, "revision" | "events"> {
  /** Undefined when only etcd knows. */
  readonly time?: number;
}

export interface ArchivePiece {
  /** In order of revision. `events` may include keys that were not asked for. */
  readonly commits: readonly ArchivedCommit[];
  /** The piece holds all commits up to this revision, which is greater than `after`. */
  readonly through: number;
}

export interface Archive {
  /** Oldest `after` that can be read; older ones answer `Compacted`. Only grows. */
  readonly floor: number;

  /**
   * Commits with `after < revision <= upTo`, oldest first, as many as fit a bounded piece. Throws StoreError
   * `Compacted` when the first commit after `after` is gone.
   */
  read(after: number, upTo: number): Promise<ArchivePiece>;
}
