// @ts-check
/** Converts rows of the table `live` from SQLite to records in a buffer. */
import { damagedStore } from "./fault.js";
import { INFO_BYTES, INFO_START, isIntact, RECORD_HEADER_BYTES } from "./record.js";

/** The key as bytes: as text it would end at the first NUL. */
export const ROW_COLUMNS = "id, CAST(key AS BLOB), info, value";

/**
 * Values in the order of ROW_COLUMNS.
 * @typedef {[id: number, key: Buffer, info: Buffer, value: Buffer]} Row
 */

/**
 * @param {readonly Row[]} rows
 * @param {string} file
 * @returns {Buffer} the only view of its ArrayBuffer, so that it can be transferred
 */
export function packRows(rows, file) {
  let bytes = 0;
  for (const row of rows) bytes += recordBytes(row, file);
  const buffer = Buffer.allocUnsafeSlow(bytes);
  let start = 0;
  for (const row of rows) start = packRow(buffer, start, { row, file });
  return buffer;
}

/**
 * Checks the types of the columns, since a damaged row header may change them.
 * @param {Row} row
 * @param {string} file
 */
export function recordBytes([id, key, info, value], file) {
  const isSound = Buffer.isBuffer(key) && Buffer.isBuffer(info) && Buffer.isBuffer(value);
  if (!isSound || info.length !== INFO_BYTES)
    throw damagedStore(file, `row ${String(id)} of table live is malformed`);
  return RECORD_HEADER_BYTES + key.length + value.length;
}

/**
 * @param {Buffer} buffer
 * @param {number} start
 * @param {{ row: Row, file: string }} source
 */
function packRow(buffer, start, { row: [id, key, info, value], file }) {
  buffer.writeDoubleLE(id, start);
  buffer.writeUInt32LE(key.length, start + 8);
  buffer.writeInt32LE(value.length, start + 12);
  buffer.set(info, start + INFO_START);
  buffer.set(key, start + RECORD_HEADER_BYTES);
  const valueStart = start + RECORD_HEADER_BYTES + key.length;
  buffer.set(value, valueStart);
  const end = valueStart + value.length;
  if (!isIntact({ buffer, start, end })) {
    throw damagedStore(file, `the checksum of row ${String(id)} of table live does not hold`);
  }
  return end;
}
