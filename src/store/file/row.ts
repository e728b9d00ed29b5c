/** Rows as the main thread sees them: decoded from records, encoded from commits. */
import type { Commit } from "../commit.ts";
import { rowId } from "../state.ts";
import type { Entry, WatchEvent } from "../store.ts";
import { MAX_CHANGES } from "../store.ts";
import { layout, readFields, recordBytes, roomFor, writeRecord } from "./disk/record.js";
import type { RecordFields } from "./disk/record.js";

/** A change on disk. Rows at or below the compacted revision are live there; those above it are the history since. */
export interface LoadedRow {
  /** revision * MAX_CHANGES + ordinal; rows come in this order. */
  readonly id: number;
  readonly revision: number;
  readonly ordinal: number;
  readonly key: string;
  /**
   * Undefined for a deletion. A view into a slab of at most 64 KiB (or of its own size when larger) that it shares with its
   * neighbours on disk and keeps alive: together the slabs are never more than what was loaded.
   */
  readonly value: Uint8Array | undefined;
  readonly createRevision: number;
  readonly version: number;
  readonly expiresAt: number | undefined;
  /** Id of the row of the same key that this one supersedes, 0 when the key did not exist. */
  readonly prevId: number;
  /** Of the transaction. */
  readonly time: number;
  readonly changes: number;
}

/** Gives each row of a slab; a hundred thousand of them are read when a store opens, so nothing is made that is not needed. */
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

/** Records of a batch, sealed: what the worker is handed and what lies on disk. */
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

/** Records of entries as they are at one revision, without history. */
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
