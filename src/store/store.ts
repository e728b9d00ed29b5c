/**
 * The contract of the store: a revisioned key-value store with etcd's guarantees. Three engines implement it (memory,
 * file, etcd) and pass one suite, test/conformance/store-suite.ts. Full description of the guarantees:
 * docs/concepts/revisions.md.
 */
import type { Lane } from "../base/loop/loop.ts";

/** Immutable; shared by live state, history, watch events and forks. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision that created the key; a key created again after a deletion gets a new one. */
  readonly createRevision: number;
  /** Revision that wrote this value. */
  readonly modRevision: number;
  /** Number of writes to the key since its creation, starting at 1. */
  readonly version: number;
  /** Place of the change within its transaction. */
  readonly ordinal: number;
  /** Time at which the key expires (Loop.now); undefined for never, or when only etcd knows. */
  readonly expiresAt: number | undefined;
  /**
   * Cache for the reader: decoded object, served bytes. The store ignores it, except that it calls `release` of a `Slot`
   * when the entry becomes history.
   */
  slot: unknown;
}

/** Slot value with a hook that frees memory. */
export interface Slot {
  /** Called some time after the entry was replaced: drop data that can be rebuilt from its value. */
  release(): void;
}

/** A consistent state at one revision. Views share structure, so keeping one for a while is cheap. */
export interface View {
  readonly revision: number;
  get(key: string): Entry | undefined;
  /** Entries with `from <= key < to`, in key order (UTF-16 code units). */
  range(from: string, to: string): IterableIterator<Entry>;
  /** Number of entries that `range` would return, without visiting them. */
  count(from: string, to: string): number;
  /**
   * A token for everything under `prefix`, made without visiting it: views with the same mark hold the same entries
   * there. Views with different marks may too, after a change beside the prefix. `prefix` names at least a resource:
   * `/registry/pods/`.
   */
  mark(prefix: string): Mark;
  /**
   * The differences between the mark's entries and the entries of this view, in key order; the cost is proportional to
   * the changes, and arises as they are read. The mark must be one of the same prefix from a view of this store. A mark
   * covers all of `/registry/pods/`, even if its prefix was longer.
   */
  changesSince(mark: Mark, prefix: string): Iterable<MarkedChange>;
}

/** Reads of a changing state; each answer is valid until the next write. */
export type Lookup = Pick<View, "get" | "mark">;

declare const marked: unique symbol;

/** Compared by identity. Keeping a mark keeps its entries in memory. */
export interface Mark {
  readonly [marked]: true;
}

/** A key whose entries differ. Undefined where the key is missing. */
export interface MarkedChange {
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/** The key must have this mod revision when the transaction is judged; 0 means it must not exist. */
export interface Compare {
  readonly key: string;
  readonly modRevision: number;
}

export type Change =
  | {
      readonly type: "put";
      readonly key: string;
      readonly value: Uint8Array;
      /**
       * Lifetime of the key in milliseconds. The deletion may come up to a second late; keys that expire together may
       * share a revision.
       */
      readonly ttlMs?: number | undefined;
      readonly slot?: unknown;
    }
  | { readonly type: "delete"; readonly key: string };

/** All changes take effect at one revision, or none does. A key occurs in at most one change. */
export interface Transaction {
  /** At most MAX_CHANGES. */
  readonly compare?: readonly Compare[];
  /** 1 to MAX_CHANGES. Deleting a missing key is a no-op. */
  readonly changes: readonly Change[];
  /**
   * Reserve of a full store that a small write may use: `deletion` starts the deletion of an object, `ending` concerns
   * an object being deleted, `upkeep` is the cluster's own. Default `growth`, without a reserve.
   */
  readonly purpose?: "growth" | "ending" | "upkeep" | "deletion" | undefined;
}

export interface Committed {
  /** Revision of the transaction, or the newest one for a no-op. */
  readonly revision: number;
  /** Entry written by each change; undefined for a deletion. */
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

/** A change in the history. */
export interface PastChange extends WatchEvent {
  /** Loop.now of the transaction; undefined when only etcd knows. */
  readonly time: number | undefined;
}

export interface WatchBatch {
  /**
   * In order of revision, each event at most once; the events of one revision are never split over two batches. The
   * array is shared: do not change it.
   */
  readonly events: readonly WatchEvent[];
  /** All events in range up to this revision were delivered in this batch or before. */
  readonly revision: number;
}

export interface WatchOptions {
  /** A key, or a prefix that ends with "/"; "" is everything. */
  readonly prefix: string;
  /** Only events of later revisions are delivered. May be a future revision. */
  readonly after: number;
  readonly lane?: Lane;
}

/**
 * Ends when `close` is called or its `for await` loop exits. `next` throws StoreError `Compacted`, `SlowWatcher` or
 * `Closed`, or `Unavailable` while it reads history from an unreachable etcd. A gap is always reported.
 */
export interface Watch extends AsyncIterableIterator<WatchBatch> {
  /** All events in range up to this revision were delivered; it advances without events too (for bookmarks). */
  readonly revision: number;
  /**
   * Takes the pending batch without waiting in `next`: undefined without one, "end" after the end. Throws like `next`.
   * Readers at the same position get the same array of events.
   */
  take(): WatchBatch | "end" | undefined;
  /** Registers a listener for pending batches. It is called during a commit and must only take note. */
  whenReady(listener: () => void): void;
  close(): void;
}

export interface StoreSpace {
  /** Estimated heap size of live entries and history. */
  readonly usedBytes: number;
  /** Upper bound of `usedBytes`; undefined without a quota. */
  readonly quotaBytes: number | undefined;
  /** While true, writes that add data fail with `NoSpace`, until enough is deleted. */
  readonly isFull: boolean;
}

export interface StoreHealth {
  readonly state: "ready" | "degraded";
  /** One line of explanation when degraded. */
  readonly reason?: string;
}

export interface Store {
  /** The newest visible state: durable, and sent to all watchers that keep up. */
  readonly view: View;

  /**
   * State against which the next transaction is judged: `view` plus accepted transactions that are not durable yet. For
   * writers only.
   */
  readonly accepted: View;

  /** Reads of `accepted` without creating a view, which costs as much as a small write. */
  readonly acceptedNow: Lookup;

  /**
   * Defined while an accepted write is not visible. Resolves with true once all are visible, with false if some were
   * lost and `accepted` has changed. A writer that finds in `accepted` that nothing is to be written answers after
   * this.
   */
  settling(): Promise<boolean> | undefined;

  /** Defined while the outcome of a write to this key is unknown: a writer waits for it before it reads `accepted` of the key. */
  turn(key: string): Promise<void> | undefined;

  /** True if other processes may write too, so that `view` may lack writes that another server has acknowledged. */
  readonly isShared: boolean;

  /** A view at least as new as everything any server acknowledged before the call. Known at once if the store is not shared. */
  fresh(): View | Promise<View>;

  /** The keys under `prefix` as they were at `revision`. Throws `Compacted` or `FutureRevision`. */
  at(revision: number, prefix: string): Promise<View>;

  /** The change of a key by the transaction of a revision; undefined without one. Throws `Compacted` or `FutureRevision`. */
  change(revision: number, key: string): Promise<PastChange | undefined>;

  /**
   * Settles when the transaction is durable, visible and sent to the watchers. Preconditions are judged in the order of
   * the calls, without an await. Throws `ConditionFailed` (nothing changed; `accepted` shows why), `NoSpace`,
   * `Overloaded`, `Unavailable` or `OutcomeUnknown`.
   */
  write(transaction: Transaction): Promise<Committed>;

  /** Throws `Compacted` at once when events after `after` are gone. */
  watch(options: WatchOptions): Watch;

  /**
   * Drops history: reads and watches before `revision` answer `Compacted` from now on. A no-op for a compacted
   * revision; `FutureRevision` for one that does not exist yet.
   */
  compact(revision: number): Promise<void>;

  health(): StoreHealth;

  readonly space: StoreSpace;

  /** Resolves when the store was closed; rejects when it failed, and then the process should end. */
  readonly ended: Promise<void>;

  /** Waits for writes in flight, ends the watches, and releases threads, files and connections. */
  close(): Promise<void>;
}

/** Same as etcd's default limit of operations in a transaction. */
export const MAX_CHANGES = 128;

/** End of the range of all keys that begin with `prefix`. */
export function prefixEnd(prefix: string): string {
  if (prefix === "") return "\u{ffff}";
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
