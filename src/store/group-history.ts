/**
 * The history of one key group: its records from old to new, and the group as it was before the oldest. A record holds
 * the changes of one commit in the group. The map of the group is kept for the last commit of each published batch;
 * maps in between are rebuilt from the previous one.
 */
import type { SortedMap } from "../base/collections/sorted-map.ts";
import type { Entry, Slot, WatchEvent } from "./store.ts";

/** Number of newest records whose replaced entries keep their slots: watchers that keep up read those. */
const UNRELEASED_RECORDS = 2000;

export interface HistoryRecord {
  readonly revision: number;
  readonly time: number;
  readonly events: readonly WatchEvent[];
  readonly bytes: number;
  /** The group's map after the record, if kept. */
  entries: SortedMap<Entry> | undefined;
}

/** Groups that share a budget of bytes and records. */
export interface HistoryBudget {
  readonly maxBytes: number;
  readonly maxRecords: number;
  readonly groups: Set<GroupHistory>;
  bytes: number;
  records: number;
}

export class GroupHistory {
  readonly key: string;
  readonly pool: HistoryBudget;
  /** Revision of the last dropped record. */
  floor: number;
  bytes = 0;
  /** The group before the first of `#records`. */
  #base: SortedMap<Entry>;
  #records: HistoryRecord[] = [];
  /** Index of the oldest record. Earlier ones are dropped; the newest of them may still serve as the base of a map. */
  #start = 0;
  /** Index of the oldest record whose replaced entries are not released. */
  #unreleased = 0;

  constructor(
    key: string,
    pool: HistoryBudget,
    base: { readonly entries: SortedMap<Entry>; readonly floor: number },
  ) {
    this.key = key;
    this.pool = pool;
    this.#base = base.entries;
    this.floor = base.floor;
  }

  get length(): number {
    return this.#records.length - this.#start;
  }

  get oldest(): HistoryRecord | undefined {
    return this.#records[this.#start];
  }

  push(record: HistoryRecord): void {
    this.#records.push(record);
    this.bytes += record.bytes;
    this.pool.bytes += record.bytes;
    this.pool.records += 1;
  }

  /** Keeps the map of the group after the newest record. */
  keep(entries: SortedMap<Entry>): void {
    const newest = this.#records.at(-1);
    if (newest !== undefined) newest.entries = entries;
    this.#releaseSlots();
  }

  dropOldest(): void {
    const record = this.oldest;
    if (record === undefined) return;
    this.floor = record.revision;
    this.bytes -= record.bytes;
    this.pool.bytes -= record.bytes;
    this.pool.records -= 1;
    this.#start += 1;
    if (this.#start > 64 && this.#start * 2 > this.#records.length) this.#release();
  }

  /** Index of the first record after the revision. */
  indexAfter(revision: number): number {
    let low = this.#start;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  record(index: number): HistoryRecord | undefined {
    return this.#records[index];
  }

  /** The group at a revision, which must not be below the floor. */
  entriesAt(revision: number): SortedMap<Entry> {
    const end = this.indexAfter(revision);
    const kept = this.#keptBefore(end);
    const entries = this.#records[kept]?.entries ?? this.#base;
    if (kept + 1 === end) return entries;
    const editor = entries.edit();
    for (const { events } of this.#records.slice(kept + 1, end)) {
      for (const { key, after } of events) {
        if (after === undefined) editor.delete(key);
        else editor.set(after);
      }
    }
    return editor.map();
  }

  copyTo(pool: HistoryBudget): GroupHistory {
    const copy = new GroupHistory(this.key, pool, { entries: this.#base, floor: this.floor });
    copy.#records = this.#records.slice();
    copy.#start = this.#start;
    copy.#unreleased = this.#unreleased;
    copy.bytes = this.bytes;
    pool.bytes += this.bytes;
    pool.records += copy.length;
    return copy;
  }

  /** Index of the newest record before `end` whose map is kept, or -1 for the base. */
  #keptBefore(end: number): number {
    let index = end - 1;
    while (index >= 0 && this.#records[index]?.entries === undefined) index -= 1;
    return index;
  }

  /** Frees dropped records, up to the newest whose map is kept. */
  #release(): void {
    const kept = this.#keptBefore(this.#start);
    if (kept < 0) return;
    this.#base = this.#records[kept]?.entries ?? this.#base;
    this.#records = this.#records.slice(kept + 1);
    this.#start -= kept + 1;
    this.#unreleased = Math.max(0, this.#unreleased - kept - 1);
  }

  #releaseSlots(): void {
    for (const end = this.#records.length - UNRELEASED_RECORDS; this.#unreleased < end; this.#unreleased++) {
      for (const { before } of this.#records[this.#unreleased]?.events ?? []) {
        if (isSlot(before?.slot)) before.slot.release();
      }
    }
  }
}

function isSlot(slot: unknown): slot is Slot {
  return typeof slot === "object" && slot !== null && "release" in slot;
}
