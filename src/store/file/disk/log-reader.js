// @ts-check
/** Reads rows of the table `log`, each of which holds the records of whole transactions, in order. */
import { damaged } from "./fault.js";
import {
  isIntact,
  layout,
  readFields,
  RECORD_HEADER_BYTES,
  recordEnd,
  revisionOf,
  ROWS_PER_REVISION,
} from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./record.js").RecordFields} RecordFields */

/** @typedef {[id: number, records: Buffer]} LogRow id of its first record */

/**
 * @typedef {object} LogRecord
 * @property {Buffer} bytes the record alone
 * @property {RecordFields} fields
 * @property {number} revision
 * @property {boolean} isDeletion
 * @property {boolean} isLast of its revision
 */

export class LogReader {
  #file;
  #selectRowId;
  #selectSizes;
  #selectRows;
  #selectNewest;

  /**
   * @param {Connection} db
   * @param {string} file
   */
  constructor(db, file) {
    this.#file = file;
    this.#selectRowId = db.prepare("SELECT max(id) FROM log WHERE id <= ?").raw();
    this.#selectSizes = db
      .prepare(
        "SELECT id, length(records) FROM log WHERE id >= ifnull((SELECT max(id) FROM log WHERE id <= ?), 0) ORDER BY id LIMIT ?",
      )
      .raw();
    this.#selectRows = db.prepare("SELECT id, records FROM log WHERE id >= ? AND id <= ? ORDER BY id").raw();
    this.#selectNewest = db.prepare("SELECT id, records FROM log ORDER BY id DESC LIMIT 1").raw();
  }

  /**
   * Rows from the one that holds the record with this id on: as many as have so many records or bytes, but one at least.
   * @param {number} id
   * @param {{ records: number, bytes: number }} limit
   * @returns {LogRow[]}
   */
  rowsFrom(id, limit) {
    const sizes = /** @type {[number, number][]} */ (this.#selectSizes.all([id, limit.records]));
    const [first] = sizes;
    if (first === undefined) return [];
    let [last, bytes] = first;
    for (const [next, size] of sizes.slice(1)) {
      if (bytes + size > limit.bytes) break;
      last = next;
      bytes += size;
    }
    return /** @type {LogRow[]} */ (this.#selectRows.all([first[0], last]));
  }

  /**
   * The id of the row that holds the record with this id.
   * @param {number} id
   */
  rowIdOf(id) {
    const [row] = /** @type {(number | null)[][]} */ (this.#selectRowId.all([id]));
    return row?.[0] ?? 0;
  }

  /**
   * The records with these ids, in order of id. Throws StoreFault `Damaged` when one is missing.
   * @param {readonly number[]} ids
   */
  find(ids) {
    /** @type {ReturnType<typeof placesIn>} */
    let places = new Map();
    /** @type {Buffer | undefined} */
    let buffer;
    return ids
      .toSorted((a, b) => a - b)
      .map((id) => {
        if (!places.has(id)) {
          // Neighbours are likely to lie in one row.
          const [row] = this.rowsFrom(id, { records: 1, bytes: 0 });
          buffer = row?.[1];
          places = placesIn(buffer);
        }
        const place = places.get(id);
        if (buffer === undefined || place === undefined || !isIntact({ buffer, ...place }))
          throw damaged(this.#file, `record ${String(id)} of table log is missing`);
        return buffer.subarray(place.start, place.end);
      });
  }

  /** The newest revision in the log; undefined when it is empty. */
  newestRevision() {
    const [row] = /** @type {LogRow[]} */ (this.#selectNewest.all());
    return row === undefined ? undefined : recordsOf(row, this.#file).at(-1)?.revision;
  }
}

/**
 * The records of a row. Throws StoreFault `Damaged` unless they are as they were sealed.
 * @param {LogRow} row
 * @param {string} file
 * @returns {LogRecord[]}
 */
export function recordsOf([rowId, buffer], file) {
  const broken = (/** @type {string} */ what) => damaged(file, `row ${String(rowId)} of table log ${what}`);
  if (!Buffer.isBuffer(buffer) || buffer.length === 0) throw broken("is malformed");
  const records = [];
  for (let start = 0; start < buffer.length;) {
    const end = endOf(buffer, start);
    if (end === undefined) throw broken("is malformed");
    if (!isIntact({ buffer, start, end })) throw broken("has a record whose checksum does not hold");
    records.push(recordAt(buffer, start, end));
    start = end;
  }
  if (records[0]?.fields.id !== rowId) throw broken("begins with another record");
  return records;
}

/**
 * Where records lie, by id, unchecked.
 * @param {Buffer | undefined} buffer
 */
function placesIn(buffer) {
  /** @type {Map<number, { start: number, end: number }>} */
  const places = new Map();
  if (!Buffer.isBuffer(buffer)) return places;
  for (let start = 0; start < buffer.length;) {
    const end = endOf(buffer, start);
    if (end === undefined) break;
    places.set(buffer.readDoubleLE(start), { start, end });
    start = end;
  }
  return places;
}

/**
 * Where the record ends; undefined when it does not fit the buffer, so that its lengths cannot be right.
 * @param {Buffer} buffer
 * @param {number} start
 */
function endOf(buffer, start) {
  if (start + RECORD_HEADER_BYTES > buffer.length) return undefined;
  const end = recordEnd(buffer, start);
  return end > buffer.length ? undefined : end;
}

/**
 * @param {Buffer} buffer
 * @param {number} start
 * @param {number} end
 * @returns {LogRecord}
 */
function recordAt(buffer, start, end) {
  const fields = readFields(buffer, start);
  return {
    bytes: buffer.subarray(start, end),
    fields,
    revision: revisionOf(fields.id),
    isDeletion: layout(buffer, start).isDeletion,
    isLast: fields.id - revisionOf(fields.id) * ROWS_PER_REVISION + 1 === fields.changes,
  };
}
