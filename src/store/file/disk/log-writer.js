// @ts-check
/** Appends records to the table `log`. */
import { INFO_START, layout, RECORD_HEADER_BYTES, seal } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */

/** Rows of one INSERT: a call costs about 5 µs whatever it binds, so that many rows should share one. */
const ROWS_PER_INSERT = 32;

export class LogWriter {
  #db;
  #insertOne;
  #insertMany;

  /** @param {Connection} db */
  constructor(db) {
    this.#db = db;
    this.#insertOne = db.prepare(insertSql(1));
    this.#insertMany = db.prepare(insertSql(ROWS_PER_INSERT));
  }

  /**
   * One SQLite transaction, durable when it returns. Completes the records with their checksums.
   * @param {Buffer} records
   */
  append(records) {
    const parameters = bindings(records);
    if (parameters.length === COLUMNS) {
      // A single statement is a transaction of its own, and saves two calls.
      this.#insertOne.run(parameters);
      return;
    }
    this.#db.exec("BEGIN IMMEDIATE");
    const step = ROWS_PER_INSERT * COLUMNS;
    let at = 0;
    for (; at + step <= parameters.length; at += step) this.#insertMany.run(parameters.slice(at, at + step));
    for (; at < parameters.length; at += COLUMNS) this.#insertOne.run(parameters.slice(at, at + COLUMNS));
    this.#db.exec("COMMIT");
  }
}

const COLUMNS = 4;

/** @param {number} rows */
function insertSql(rows) {
  const values = Array.from({ length: rows }, () => "(?, ?, ?, ?)");
  return `INSERT INTO log (id, key, info, value) VALUES ${values.join(", ")}`;
}

/**
 * The columns of all rows, one after the other.
 * @param {Buffer} records
 */
function bindings(records) {
  /** @type {(number | string | Buffer | null)[]} */
  const parameters = [];
  for (let start = 0; start < records.length;) {
    const { keyStart, valueStart, end, isDeletion } = layout(records, start);
    seal({ buffer: records, start, end });
    parameters.push(
      records.readDoubleLE(start),
      records.toString("utf8", keyStart, valueStart),
      records.subarray(start + INFO_START, start + RECORD_HEADER_BYTES),
      isDeletion ? null : records.subarray(valueStart, end),
    );
    start = end;
  }
  return parameters;
}
