// @ts-check
/** Reads rows of the table `log`; each holds the records of whole transactions, in order. */
import { damagedStore } from "./fault.js";
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
   * Returns rows from the one with this record on, up to the limit of records or bytes, but at least one.
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
   * Id of the row that holds the record with this id.
   * @param {number} id
   */
  rowIdOf(id) {
    const [row] = /** @type {(number | null)[][]} */ (this.#selectRowId.all([id]));
    return row?.[0] ?? 0;
  }

  /**
   * Returns the records with these ids, in order of id. Throws StoreFault `Damaged` when one is missing.
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
          // Neighbouring records are probably in the same row.
          const [row] = this.rowsFrom(id, { records: 1, bytes: 0 });
          buffer = row?.[1];
          places = placesIn(buffer);
        }
        const place = places.get(id);
        if (buffer === undefined || place === undefined || !isIntact({ buffer, ...place }))
          throw damagedStore(this.#file, `record ${String(id)} of table log is missing`);
        return buffer.subarray(place.start, place.end);
      });
  }

  /** Newest revision in the log; undefined for an empty log. */
  newestRevision() {
    const [row] = /** @type {LogRow[]} */ (this.#selectNewest.all());
    return row === undefined ? undefined : recordsOf(row, this.#file).at(-1)?.revision;
  }
}

/**
 * Returns the records of a row. Throws StoreFault `Damaged` if one differs from its sealed state.
 * @param {LogRow} row
 * @param {string} file
 * @returns {LogRecord[]}
 */
export function recordsOf([rowId, buffer], file) {
  const broken = (/** @type {string} */ what) =>
    damagedStore(file, `row ${String(rowId)} of table log ${what}`);
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
 * Positions of the records by id, unchecked.
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
 * End of the record; undefined when it exceeds the buffer, so its lengths must be wrong.
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
