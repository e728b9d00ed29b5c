/**
 * The history of one key group: its records from old to new, and the group as it was before the oldest of them. A record is
 * what one commit did to the group, with the group's map after it.
 */
import type { SortedMap } from "../base/sorted-map.ts";
import type { Entry, WatchEvent } from "./store.ts";

export interface HistoryRecord {
  readonly revision: number;
  readonly time: number;
  readonly events: readonly WatchEvent[];
  readonly entries: SortedMap<Entry>;
  readonly bytes: number;
}

/** Groups that share a budget. */
export interface Pool {
  readonly maxBytes: number;
  readonly maxRecords: number;
  readonly groups: Set<GroupHistory>;
  bytes: number;
  records: number;
}

export class GroupHistory {
  readonly key: string;
  readonly pool: Pool;
  /** The group as it was at `floor`, and the revision of the last record that was dropped. */
  base: SortedMap<Entry>;
  floor: number;
  bytes = 0;
  #records: HistoryRecord[] = [];
  #start = 0;

  constructor(key: string, pool: Pool, base: { readonly entries: SortedMap<Entry>; readonly floor: number }) {
    this.key = key;
    this.pool = pool;
    this.base = base.entries;
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

  dropOldest(): void {
    const record = this.oldest;
    if (record === undefined) return;
    this.base = record.entries;
    this.floor = record.revision;
    this.bytes -= record.bytes;
    this.pool.bytes -= record.bytes;
    this.pool.records -= 1;
    this.#start += 1;
    if (this.#start > 64 && this.#start * 2 > this.#records.length) {
      this.#records = this.#records.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Index for `record` of the first record after the revision. */
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

  entriesAt(revision: number): SortedMap<Entry> {
    const index = this.indexAfter(revision) - 1;
    return index < this.#start ? this.base : (this.#records[index]?.entries ?? this.base);
  }

  copyTo(pool: Pool): GroupHistory {
    const copy = new GroupHistory(this.key, pool, { entries: this.base, floor: this.floor });
    copy.#records = this.#records.slice(this.#start);
    copy.bytes = this.bytes;
    pool.bytes += this.bytes;
    pool.records += copy.length;
    return copy;
  }
}
