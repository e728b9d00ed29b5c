// @ts-check
/** Appends batches of records to the table `log`. */
import { recordEnd, ROWS_PER_REVISION } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */

/** Bytes per row: holds the concurrent writes of a few dozen writers, and is cheap to read for one record. */
const ROW_BYTES = 64 << 10;

export class LogWriter {
  #db;
  #insert;

  /** @param {Connection} db */
  constructor(db) {
    this.#db = db;
    this.#insert = db.prepare("INSERT INTO log (id, records) VALUES (?, ?)");
  }

  /**
   * Appends records in as few rows as possible, since binding values costs more than SQLite's work on them. All or
   * nothing.
   * @param {Buffer} records sealed
   */
  append(records) {
    if (records.length <= ROW_BYTES) {
      // A single statement is its own transaction, which saves two calls.
      this.#add(records);
      return;
    }
    this.#db.exec("BEGIN IMMEDIATE");
    for (const row of rowsOf(records)) this.#add(row);
    this.#db.exec("COMMIT");
  }

  /** @param {Buffer} records */
  #add(records) {
    this.#insert.run([records.readDoubleLE(0), records]);
  }
}

/**
 * Splits records into whole transactions, as many as fit a row, but at least one.
 * @param {Buffer} records
 */
function rowsOf(records) {
  const rows = [];
  let start = 0;
  let whole = 0;
  for (const end of transactionEnds(records)) {
    if (end - start > ROW_BYTES && whole > start) {
      rows.push(records.subarray(start, whole));
      start = whole;
    }
    whole = end;
  }
  rows.push(records.subarray(start));
  return rows;
}

/** @param {Buffer} records */
function* transactionEnds(records) {
  let end = recordEnd(records, 0);
  for (; end < records.length; end = recordEnd(records, end)) {
    const ordinal = records.readDoubleLE(end) % ROWS_PER_REVISION;
    if (ordinal === 0) yield end;
  }
  yield end;
}
