/**
 * The window of past revisions, kept per key group, so that a busy group does not evict the history of others.
 * By time: records older than `windowMs` are dropped.
 * By bytes and count, per pool of groups: first records older than `keepMs` are dropped, oldest first; then only groups
 * above a common level are cut to it. So a group loses its last `keepMs` only through its own volume.
 */
import { SortedMap } from "../base/collections/sorted-map.ts";
import type { Commit } from "./commit.ts";
import { GroupHistory } from "./group-history.ts";
import type { HistoryBudget } from "./group-history.ts";
import { sliceOf } from "./history-slice.ts";
import type { HistorySlice } from "./history-slice.ts";
import { groupMeets, groupOf, isUnder } from "./key-group.ts";
import type { KeyGroup, State } from "./state.ts";
import type { Entry, PastChange, WatchEvent } from "./store.ts";

export interface HistoryOptions {
  /** Upper bound of a record's age. */
  readonly windowMs?: number;
  /** Age up to which each group keeps its history, however much other groups write. */
  readonly keepMs?: number;
  /** Budget of all groups without their own. */
  readonly maxBytes?: number;
  readonly maxRecords?: number;
  /** Groups with a budget of their own, in bytes. */
  readonly ownBudgets?: ReadonlyMap<string, number>;
}

/** Kube-apiserver's values: it compacts etcd every 5 minutes, and a watch cache keeps at least 75 seconds. */
const WINDOW_MS = 5 * 60_000;
const KEEP_MS = 75_000;
const MAX_BYTES = 64 << 20;
const MAX_RECORDS = 100_000;
/** Leases and Events are written often and watched rarely. */
const OWN_BUDGETS: ReadonlyMap<string, number> = new Map([
  ["/registry/leases/", 4 << 20],
  ["/registry/events/", 8 << 20],
]);
/** All history takes at most about a fifth of a quota; the rest is for live entries. */
const SHARE_OF_QUOTA = 1 / 8;
const OWN_SHARE_OF_QUOTA = 1 / 32;

/** The same options with budgets that fit a quota. */
export function historyWithin(quotaBytes: number | undefined, options: HistoryOptions = {}): HistoryOptions {
  if (quotaBytes === undefined) return options;
  const { maxBytes = MAX_BYTES, ownBudgets = OWN_BUDGETS } = options;
  const own = quotaBytes * OWN_SHARE_OF_QUOTA;
  return {
    ...options,
    maxBytes: Math.min(maxBytes, quotaBytes * SHARE_OF_QUOTA),
    ownBudgets: new Map([...ownBudgets].map(([group, bytes]) => [group, Math.min(bytes, own)])),
  };
}

/** Memory of a record and its copied tree nodes; see SortedMap. */
const RECORD_BYTES = 1024;
/** Share of the budget to which a full pool is cut, so that trimming is rare. */
const TRIM_TO = 7 / 8;
export class History {
  readonly #options: Required<HistoryOptions>;
  readonly #groups = new Map<string, GroupHistory>();
  readonly #pools = new Map<string, HistoryBudget>();
  #floor: number;

  constructor(options: HistoryOptions, floor: number) {
    this.#options = {
      windowMs: options.windowMs ?? WINDOW_MS,
      keepMs: options.keepMs ?? KEEP_MS,
      maxBytes: options.maxBytes ?? MAX_BYTES,
      maxRecords: options.maxRecords ?? MAX_RECORDS,
      ownBudgets: options.ownBudgets ?? OWN_BUDGETS,
    };
    this.#floor = floor;
  }

  /** Memory that the history keeps alive, in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const pool of this.#pools.values()) bytes += pool.bytes;
    return bytes;
  }

  /** Revision after which all events under the prefix are kept. */
  floor(prefix: string): number {
    let floor = this.#floor;
    for (const group of this.#under(prefix)) floor = Math.max(floor, group.floor);
    return floor;
  }

  /** Adds commits that lead from one state to another. Maps are kept for the last commit only: see GroupHistory. */
  append(commits: readonly Commit[], before: State, after: State): void {
    const changed = new Set<GroupHistory>();
    for (const commit of commits) this.#record(commit, before, changed);
    const now = commits.at(-1)?.time ?? 0;
    for (const group of changed) {
      group.keep(after.groups.get(group.key)?.entries ?? SortedMap.empty());
      const { pool } = group;
      if (pool.bytes > pool.maxBytes || pool.records > pool.maxRecords) trimPool(pool, now, this.#options);
    }
  }

  /** Drops records older than the window, and groups without records that are older than the global floor. */
  expire(now: number): void {
    for (const group of this.#groups.values()) {
      dropOlder(group, now - this.#options.windowMs);
      if (group.length > 0 || group.floor > this.#floor) continue;
      group.pool.groups.delete(group);
      this.#groups.delete(group.key);
    }
  }

  compact(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
    for (const group of this.#groups.values()) {
      while ((group.oldest?.revision ?? Infinity) <= revision) group.dropOldest();
    }
  }

  /** The change of a key at a revision above the floor, if there is one. */
  find(revision: number, key: string): PastChange | undefined {
    const group = this.#groups.get(groupOf(key));
    const record = group?.record(group.indexAfter(revision - 1));
    if (record?.revision !== revision) return undefined;
    const event = record.events.find((each) => each.key === key);
    return event === undefined ? undefined : { ...event, time: record.time };
  }

  /** The groups under a prefix at a revision not below the floor; `current` serves unchanged groups. */
  groupsAt(revision: number, prefix: string, current: State): KeyGroup[] {
    const groups = new Map<string, SortedMap<Entry>>();
    for (const { key, entries } of current.groups.range("", "\u{ffff}")) {
      if (groupMeets(key, prefix)) groups.set(key, entries);
    }
    for (const group of this.#under(prefix)) groups.set(group.key, group.entriesAt(revision));
    return [...groups]
      .filter(([, entries]) => entries.size > 0)
      .map(([key, entries]) => ({ key, entries }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  /**
   * Returns the next events under a prefix, whole revisions only. `after` must not be below the floor; `head` is the
   * newest revision.
   */
  slice(after: number, prefix: string, head: number): HistorySlice {
    return sliceOf(this.#under(prefix), { after, prefix, head });
  }

  copy(): History {
    const copy = new History(this.#options, this.#floor);
    for (const group of this.#groups.values()) {
      const pool = copy.#pool(group.key);
      const history = group.copyTo(pool);
      pool.groups.add(history);
      copy.#groups.set(group.key, history);
    }
    return copy;
  }

  *#under(prefix: string): IterableIterator<GroupHistory> {
    const exact = this.#groups.get(groupOf(prefix));
    if (exact !== undefined && isUnder(prefix, exact.key)) {
      yield exact;
      return;
    }
    for (const group of this.#groups.values()) if (groupMeets(group.key, prefix)) yield group;
  }

  #record(commit: Commit, before: State, changed: Set<GroupHistory>): void {
    const first = commit.events[0];
    if (first !== undefined && commit.events.length === 1) {
      changed.add(this.#push(groupOf(first.key), commit, before));
      return;
    }
    const { revision, time } = commit;
    for (const [name, events] of byGroup(commit.events))
      changed.add(this.#push(name, { revision, time, events }, before));
  }

  #push(
    name: string,
    { revision, time, events }: Pick<Commit, "revision" | "time" | "events">,
    before: State,
  ): GroupHistory {
    const group = this.#group(name, before);
    group.push({ revision, time, events, bytes: bytesKept(events), entries: undefined });
    return group;
  }

  #group(key: string, before: State): GroupHistory {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const pool = this.#pool(key);
    const entries = before.groups.get(key)?.entries ?? SortedMap.empty<Entry>();
    const group = new GroupHistory(key, pool, { entries, floor: this.#floor });
    pool.groups.add(group);
    this.#groups.set(key, group);
    return group;
  }

  #pool(group: string): HistoryBudget {
    const own = this.#options.ownBudgets.get(group);
    const name = own === undefined ? "" : group;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const { maxBytes, maxRecords } = this.#options;
    const pool: HistoryBudget = {
      maxBytes: own ?? maxBytes,
      maxRecords,
      groups: new Set(),
      bytes: 0,
      records: 0,
    };
    this.#pools.set(name, pool);
    return pool;
  }
}

/** Bytes that only this record keeps alive: the replaced values. */
function bytesKept(events: readonly WatchEvent[]): number {
  let bytes = RECORD_BYTES;
  for (const event of events) bytes += event.before?.value.byteLength ?? 0;
  return bytes;
}

function byGroup(events: readonly WatchEvent[]): Iterable<readonly [string, readonly WatchEvent[]]> {
  const groups = new Map<string, WatchEvent[]>();
  for (const event of events) {
    const name = groupOf(event.key);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [event]);
    else members.push(event);
  }
  return groups;
}

function dropOlder(group: GroupHistory, time: number): void {
  while ((group.oldest?.time ?? Infinity) < time) group.dropOldest();
}

function trimPool(pool: HistoryBudget, now: number, options: Required<HistoryOptions>): void {
  const isAbove = (): boolean =>
    pool.bytes > pool.maxBytes * TRIM_TO || pool.records > pool.maxRecords * TRIM_TO;
  for (let ageMs = options.windowMs / 2; isAbove() && ageMs > options.keepMs; ageMs /= 2) {
    for (const group of pool.groups) dropOlder(group, now - ageMs);
  }
  if (isAbove()) for (const group of pool.groups) dropOlder(group, now - options.keepMs);
  if (!isAbove()) return;
  const groups = [...pool.groups];
  const bytes = fairShare(
    groups.map((group) => group.bytes),
    pool.maxBytes * TRIM_TO,
  );
  const records = fairShare(
    groups.map((group) => group.length),
    pool.maxRecords * TRIM_TO,
  );
  for (const group of groups) cut(group, bytes, records);
}

function cut(group: GroupHistory, bytes: number, records: number): void {
  while (group.bytes > bytes || group.length > records) group.dropOldest();
}

/**
 * Level to which the largest sizes are cut so that the sum is at most `total`: fairShare([10, 50, 90], 100) is 45, for
 * 10 + 45 + 45 = 100.
 */
export function fairShare(sizes: readonly number[], total: number): number {
  let left = total;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}
