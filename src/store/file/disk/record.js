// @ts-check
/**
 * Binary form of a change: how batches go to the worker and lie in the log, how loaded ones come back, and what the checksum
 * covers. Records lie one behind the other in a buffer; numbers are little-endian.
 *
 *   0  id            double   revision * 128 + ordinal
 *   8  key length    uint32
 *  12  value length  int32    -1: deletion
 *  16  info, as kept in the column of that name in the table `live`:
 *      16 createRevision, 24 version, 32 expiresAt (Infinity: never), 40 prev (id of the one it supersedes, 0: none),
 *      48 time, 56 liveCount, 64 liveSum (both after the transaction): doubles
 *      72 changes (records of the transaction), 76 checksum: uint32
 *  80  key (UTF-8), value
 *
 * The checksum is the CRC-32 of the whole record with the checksum itself as zero, so that no column can change, and no row
 * take the place of another, unnoticed.
 */
import { crc32 } from "node:zlib";

export const RECORD_HEADER_BYTES = 80;
export const INFO_START = 16;
export const INFO_BYTES = RECORD_HEADER_BYTES - INFO_START;
const CHECKSUM_AT = 76;

/** Equals MAX_CHANGES of the store: number of row ids per revision. */
export const ROWS_PER_REVISION = 128;
/** Keeps sums of row ids exact in a double. */
const LIVE_SUM_MODULUS = 2 ** 52;

/**
 * @typedef {object} RecordFields
 * @property {number} id
 * @property {number} createRevision
 * @property {number} version
 * @property {number} expiresAt
 * @property {number} prevId
 * @property {number} time
 * @property {number} liveCount
 * @property {number} liveSum
 * @property {number} changes
 */

/**
 * Place of one record in a buffer.
 * @typedef {object} RecordPlace
 * @property {Buffer} buffer
 * @property {number} start
 * @property {number} end
 */

/** @param {number} id */
export function revisionOf(id) {
  return Math.floor(id / ROWS_PER_REVISION);
}

/**
 * @param {number} sum
 * @param {number} id
 */
export function addToLiveSum(sum, id) {
  return (sum + (id % LIVE_SUM_MODULUS)) % LIVE_SUM_MODULUS;
}

/**
 * @param {number} sum
 * @param {number} id
 */
export function takeFromLiveSum(sum, id) {
  return (sum - (id % LIVE_SUM_MODULUS) + LIVE_SUM_MODULUS) % LIVE_SUM_MODULUS;
}

/**
 * Memory for records: two views of the same bytes, since a DataView writes numbers faster.
 * @typedef {object} RecordRoom
 * @property {Buffer} buffer
 * @property {DataView<ArrayBuffer>} view
 */

/**
 * Returns uncleared memory. Its views are the only ones of their ArrayBuffer, so that it can be transferred.
 * @param {number} bytes
 * @returns {RecordRoom}
 */
export function roomFor(bytes) {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { buffer, view: new DataView(/** @type {ArrayBuffer} */ (buffer.buffer)) };
}

/**
 * Size of the record in bytes.
 * @param {string} key
 * @param {Uint8Array | undefined} value
 */
export function recordBytes(key, value) {
  return RECORD_HEADER_BYTES + Buffer.byteLength(key) + (value?.length ?? 0);
}

/**
 * Writes a sealed record; returns its end.
 * @param {RecordRoom} room
 * @param {number} start
 * @param {RecordFields & { key: string, value: Uint8Array | undefined }} record
 */
export function writeRecord({ buffer, view }, start, record) {
  const { key, value } = record;
  const keyBytes = buffer.write(key, start + RECORD_HEADER_BYTES);
  const valueStart = start + RECORD_HEADER_BYTES + keyBytes;
  if (value !== undefined) buffer.set(value, valueStart);
  view.setFloat64(start, record.id, true);
  view.setUint32(start + 8, keyBytes, true);
  view.setInt32(start + 12, value === undefined ? -1 : value.length, true);
  view.setFloat64(start + 16, record.createRevision, true);
  view.setFloat64(start + 24, record.version, true);
  view.setFloat64(start + 32, record.expiresAt, true);
  view.setFloat64(start + 40, record.prevId, true);
  view.setFloat64(start + 48, record.time, true);
  view.setFloat64(start + 56, record.liveCount, true);
  view.setFloat64(start + 64, record.liveSum, true);
  view.setUint32(start + 72, record.changes, true);
  const end = valueStart + (value?.length ?? 0);
  seal({ buffer, start, end });
  return end;
}

/**
 * @param {Buffer} buffer
 * @param {number} start
 * @returns {RecordFields}
 */
export function readFields(buffer, start) {
  return {
    id: buffer.readDoubleLE(start),
    createRevision: buffer.readDoubleLE(start + 16),
    version: buffer.readDoubleLE(start + 24),
    expiresAt: buffer.readDoubleLE(start + 32),
    prevId: buffer.readDoubleLE(start + 40),
    time: buffer.readDoubleLE(start + 48),
    liveCount: buffer.readDoubleLE(start + 56),
    liveSum: buffer.readDoubleLE(start + 64),
    changes: buffer.readUInt32LE(start + 72),
  };
}

/**
 * Positions of the record's parts; `valueStart` equals `end` for a deletion and for an empty value.
 * @param {Buffer} buffer
 * @param {number} start
 */
export function layout(buffer, start) {
  const valueLength = buffer.readInt32LE(start + 12);
  const keyStart = start + RECORD_HEADER_BYTES;
  const valueStart = keyStart + buffer.readUInt32LE(start + 8);
  return { keyStart, valueStart, end: valueStart + Math.max(valueLength, 0), isDeletion: valueLength < 0 };
}

/**
 * End of the record at `start`.
 * @param {Buffer} buffer
 * @param {number} start
 */
export function recordEnd(buffer, start) {
  return (
    start + RECORD_HEADER_BYTES + buffer.readUInt32LE(start + 8) + Math.max(buffer.readInt32LE(start + 12), 0)
  );
}

/**
 * View for a fast scan of many records: faster than the buffer's own methods, above all before those are compiled.
 * @param {Buffer} records
 */
export function viewOf(records) {
  return new DataView(records.buffer, records.byteOffset, records.length);
}

/**
 * Reads from the record at `start`: its id, the id of the superseded record (0: none), whether it is a deletion, and
 * its end.
 * @param {DataView} view
 * @param {number} start
 */
export function readRecordHead(view, start) {
  const valueLength = view.getInt32(start + 12, true);
  return {
    id: view.getFloat64(start, true),
    prevId: view.getFloat64(start + 40, true),
    isDeletion: valueLength < 0,
    end: start + RECORD_HEADER_BYTES + view.getUint32(start + 8, true) + Math.max(valueLength, 0),
  };
}

/** @param {RecordPlace} record */
export function seal({ buffer, start, end }) {
  buffer.writeUInt32LE(0, start + CHECKSUM_AT);
  buffer.writeUInt32LE(crc32(buffer.subarray(start, end)), start + CHECKSUM_AT);
}

/**
 * Whether the record is unchanged since it was sealed.
 * @param {RecordPlace} record
 */
export function isIntact({ buffer, start, end }) {
  const expected = buffer.readUInt32LE(start + CHECKSUM_AT);
  buffer.writeUInt32LE(0, start + CHECKSUM_AT);
  const found = crc32(buffer.subarray(start, end));
  buffer.writeUInt32LE(expected, start + CHECKSUM_AT);
  return found === expected;
}

/**
 * @param {readonly Buffer[]} records
 * @returns {Buffer} the only view of its ArrayBuffer, so that it can be transferred
 */
export function joinRecords(records) {
  let bytes = 0;
  for (const record of records) bytes += record.length;
  const buffer = Buffer.allocUnsafeSlow(bytes);
  let start = 0;
  for (const record of records) start += record.copy(buffer, start);
  return buffer;
}
