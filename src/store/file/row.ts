/** Rows on the main thread: decodes them from records, encodes them from commits. */
import type { Commit } from "../commit.ts";
import { rowId } from "../state.ts";
import type { Entry, WatchEvent } from "../store.ts";
import { MAX_CHANGES } from "../store.ts";
import { layout, readFields, recordBytes, roomFor, writeRecord } from "./disk/record.js";
import type { RecordFields } from "./disk/record.js";

/** A change on disk. Rows up to the compacted revision are the live ones; rows above it are the history since. */
export interface LoadedRow {
  /** Equals revision * MAX_CHANGES + ordinal; rows come in this order. */
  readonly id: number;
  readonly revision: number;
  readonly ordinal: number;
  readonly key: string;
  /**
   * Undefined for a deletion. A view into a slab of at most 64 KiB (or its own size if larger), shared with its
   * neighbours on disk and kept in memory by them. All slabs together never exceed the loaded data.
   */
  readonly value: Uint8Array | undefined;
  readonly createRevision: number;
  readonly version: number;
  readonly expiresAt: number | undefined;
  /** Id of the superseded row of the same key; 0 when the key did not exist. */
  readonly prevId: number;
  /** Loop.now of the transaction, and below its number of changes. */
  readonly time: number;
  readonly changes: number;
}

/** Yields each row of a slab. A store has hundreds of thousands of rows, so decoding allocates as little as possible. */
export function decodeRows(records: Buffer, onRow: (row: LoadedRow) => void): void {
  for (let start = 0; start < records.length;) {
    const { keyStart, valueStart, end, isDeletion } = layout(records, start);
    const { id, createRevision, version, expiresAt, prevId, time, changes } = readFields(records, start);
    onRow({
      id,
      revision: Math.floor(id / MAX_CHANGES),
      ordinal: id % MAX_CHANGES,
      key: records.toString("utf8", keyStart, valueStart),
      value: isDeletion ? undefined : records.subarray(valueStart, end),
      createRevision,
      version,
      expiresAt: expiresAt === Infinity ? undefined : expiresAt,
      prevId,
      time,
      changes,
    });
    start = end;
  }
}

export function entryOf(row: LoadedRow): Entry | undefined {
  if (row.value === undefined) return undefined;
  const { key, value, createRevision, version, ordinal, expiresAt } = row;
  return {
    key,
    value,
    createRevision,
    modRevision: row.revision,
    version,
    ordinal,
    expiresAt,
    slot: undefined,
  };
}

/** Encodes a batch as sealed records, in the form of the worker and of the disk. */
export function encodeCommits(batch: readonly Commit[]): ArrayBuffer {
  let bytes = 0;
  for (const { events } of batch)
    for (const { key, after } of events) bytes += recordBytes(key, after?.value);
  const room = roomFor(bytes);
  let end = 0;
  for (const commit of batch) {
    for (const event of commit.events) end = writeRecord(room, end, changedRow(commit, event));
  }
  return room.view.buffer;
}

/** Encodes entries at one revision as records, without history. */
export function encodeEntries(entries: readonly Entry[]): ArrayBuffer {
  let bytes = 0;
  for (const { key, value } of entries) bytes += recordBytes(key, value);
  const room = roomFor(bytes);
  let end = 0;
  for (const entry of entries) end = writeRecord(room, end, liveRow(entry));
  return room.view.buffer;
}

interface NewRow extends RecordFields {
  readonly key: string;
  readonly value: Uint8Array | undefined;
}

function changedRow(commit: Commit, { key, ordinal, before, after }: WatchEvent): NewRow {
  return {
    id: commit.revision * MAX_CHANGES + ordinal,
    createRevision: after?.createRevision ?? 0,
    version: after?.version ?? 0,
    expiresAt: after?.expiresAt ?? Infinity,
    prevId: before === undefined ? 0 : rowId(before),
    time: commit.time,
    liveCount: commit.liveCount,
    liveSum: commit.liveSum,
    changes: commit.events.length,
    key,
    value: after?.value,
  };
}

function liveRow(entry: Entry): NewRow {
  const { key, value, createRevision, version, expiresAt = Infinity } = entry;
  const noHistory = { prevId: 0, time: 0, liveCount: 0, liveSum: 0, changes: 1 };
  return { id: rowId(entry), createRevision, version, expiresAt, ...noHistory, key, value };
}
