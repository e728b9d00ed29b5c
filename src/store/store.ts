/**
 * The contract of the store: a revisioned key-value store with etcd's promises. Three engines
 * keep it (memory, file, etcd) and pass one suite, test/conformance/store-suite.ts.
 * What it promises in full sentences: docs/concepts/revisions.md.
 */
import type { Lane } from "../base/loop/loop.ts";

/** Immutable; shared by live state, history, watch events and forks. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision that created the key, counted anew after a deletion. */
  readonly createRevision: number;
  /** The revision that wrote this value. */
  readonly modRevision: number;
  /** How many times the key was written since it was created; 1 for the first. */
  readonly version: number;
  /** Place of the change within its transaction. */
  readonly ordinal: number;
  /** When the key ends by itself (Loop.now); undefined when never, or when only etcd knows. */
  readonly expiresAt: number | undefined;
  /** For the reader: decoded object, served bytes. The store never looks into it; if it is a `Slot`, it is told when the entry is history. */
  slot: unknown;
}

/** What may be in a slot. */
export interface Slot {
  /** The entry was replaced a while ago: what can be made from its value again need not be kept. */
  fold(): void;
}

/** A consistent state at one revision. Cheap to keep for a while: views share structure. */
export interface View {
  readonly revision: number;
  get(key: string): Entry | undefined;
  /** Entries with `from <= key < to`, in key order (UTF-16 code units). */
  range(from: string, to: string): IterableIterator<Entry>;
  /** How many entries `range` would give, without visiting them. */
  count(from: string, to: string): number;
  /**
   * Stands for everything under `prefix`, without visiting it: two views with the same mark hold the same entries there. Views with different
   * marks may too, when something beside the prefix has changed. `prefix` names at least a resource: `/registry/pods/`.
   */
  mark(prefix: string): Mark;
  /**
   * What has to be taken away from, and added to, the entries of the mark to get those of this view; costs about what has changed. The mark
   * is one of the same prefix, of any view of this store; it stands for all that is within `/registry/pods/`, however long the prefix was.
   */
  changesSince(mark: Mark, prefix: string): MarkedChanges;
}

/** What can be asked of a state that goes on changing: each answer holds for as long as nothing is written. */
export type Glance = Pick<View, "get" | "mark">;

declare const marked: unique symbol;

/** Compared by identity. Keeping one keeps what it stands for in memory. */
export interface Mark {
  readonly [marked]: true;
}

export interface MarkedChanges {
  readonly removed: readonly Entry[];
  readonly added: readonly Entry[];
}

/** The key must have this mod revision when the transaction is taken; 0 means it must not exist. */
export interface Compare {
  readonly key: string;
  readonly modRevision: number;
}

export type Change =
  | {
      readonly type: "put";
      readonly key: string;
      readonly value: Uint8Array;
      /** The key is deleted this long after the write, or up to a second later; keys that end together may share a revision. */
      readonly ttlMs?: number | undefined;
      readonly slot?: unknown;
    }
  | { readonly type: "delete"; readonly key: string };

/** All changes happen at one revision, or none. A key occurs in at most one change. */
export interface Transaction {
  /** Up to MAX_CHANGES. */
  readonly compare?: readonly Compare[];
  /** 1 to MAX_CHANGES. Deleting a key that does not exist is no change. */
  readonly changes: readonly Change[];
  /**
   * Which room of a full store a small write may use: `deletion` begins the deletion of an object, `ending` concerns an
   * object that is being deleted, `upkeep` is the cluster's own. `growth` unless given.
   */
  readonly purpose?: "growth" | "ending" | "upkeep" | "deletion" | undefined;
}

export interface Committed {
  /** The revision of the transaction, or the newest one when nothing had to change. */
  readonly revision: number;
  /** For each change the entry written; undefined for a deletion. */
  readonly entries: readonly (Entry | undefined)[];
}

/** Created when `before` is undefined, deleted when `after` is. */
export interface WatchEvent {
  readonly revision: number;
  /** Place of the change within its transaction. */
  readonly ordinal: number;
  readonly key: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

export interface WatchBatch {
  /** By revision, each at most once; the events of one revision are never split over two batches. Shared: do not change. */
  readonly events: readonly WatchEvent[];
  /** Everything in range up to here has been handed out with this batch or before. */
  readonly revision: number;
}

export interface WatchOptions {
  /** A key, or a prefix that ends with "/"; "" is everything. */
  readonly prefix: string;
  /** Only events of later revisions. May lie in the future. */
  readonly after: number;
  readonly lane?: Lane;
}

/**
 * Ends when `close` is called or the loop over it is left. `next` throws StoreError `Compacted`, `SlowWatcher`, `Closed` or,
 * while it still reads history from an etcd that is away, `Unavailable`; it is never silent about a gap.
 */
export interface Watch extends AsyncIterableIterator<WatchBatch> {
  /** Everything in range up to here has been handed out; moves on while nothing happens in range (for bookmarks). */
  readonly revision: number;
  /**
   * What waits, for a reader that never waits in `next`: undefined when nothing does, "end" after the end. Throws as `next` does.
   * Readers that are as far as each other get the same array of events.
   */
  take(): WatchBatch | "end" | undefined;
  /** Tells the reader that there may be something to take. It is told in the midst of a commit, and shall do no more than note it. */
  whenReady(listener: () => void): void;
  close(): void;
}

export interface StoreSpace {
  /** Live entries and history, by what they cost on the heap. */
  readonly usedBytes: number;
  /** Undefined when there is no quota. */
  readonly quotaBytes: number | undefined;
  /** Writes that add data are refused with `NoSpace`, until enough was removed. */
  readonly isFull: boolean;
}

export interface StoreHealth {
  readonly state: "ready" | "degraded";
  /** One line for people, when degraded. */
  readonly reason?: string;
}

export interface Store {
  /** The newest visible state: durable, and known to every watcher that keeps up. */
  readonly view: View;

  /** What the next transaction is judged against: `view` plus what was taken and is not yet durable. For writers only. */
  readonly accepted: View;

  /** The same at the moment of asking: of what changes with every write no view has to be made, which costs as much as a small write. */
  readonly acceptedNow: Glance;

  /**
   * While something accepted is not yet visible: when it is, with true, or when some of it was lost, with false, and `accepted` is another
   * than before. Whoever decides by `accepted` that nothing is to be written says so after that.
   */
  settling(): Promise<boolean> | undefined;

  /** Whether a writer should wait before it reads `accepted` of this key, because the outcome of a write under way is not known here. */
  turn(key: string): Promise<void> | undefined;

  /** What `fresh` would give, where it is known without asking anybody: in the store of one process. Throws as `fresh` rejects. */
  readonly freshView: View | undefined;

  /** A view at least as new as everything any server acknowledged before the call. */
  fresh(): Promise<View>;

  /** The keys under `prefix` as they were at `revision`. Throws `Compacted` or `FutureRevision`. */
  at(revision: number, prefix: string): Promise<View>;

  /**
   * Settles when the transaction is durable, visible and posted to the watchers. Preconditions are judged in the order of the
   * calls, without an await. Throws `ConditionFailed` (nothing changed; `accepted` shows why), `NoSpace`, `Overloaded`,
   * `Unavailable` or `OutcomeUnknown`.
   */
  write(transaction: Transaction): Promise<Committed>;

  /** Throws `Compacted` at once when events after `after` are no longer kept. */
  watch(options: WatchOptions): Watch;

  /**
   * Gives up history: reads and watches before `revision` answer `Compacted` from now on. Nothing happens for one that was
   * given up before; one that is not there yet is `FutureRevision`.
   */
  compact(revision: number): Promise<void>;

  health(): StoreHealth;

  readonly space: StoreSpace;

  /** Resolves when the store was closed, rejects when it broke (then the process should end). */
  readonly ended: Promise<void>;

  /** Waits for the writes under way, ends the watches, releases what is held. */
  close(): Promise<void>;
}

/** Same as etcd's default limit of operations in a transaction. */
export const MAX_CHANGES = 128;

/** End of the range of all keys that begin with `prefix`. */
export function prefixEnd(prefix: string): string {
  if (prefix === "") return "\u{ffff}";
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
