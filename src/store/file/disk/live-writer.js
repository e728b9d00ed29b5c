// @ts-check
/** Writes the table `live`: one row per value that is live at the compacted revision. */
import { INFO_START, layout, RECORD_HEADER_BYTES } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */

/** Rows per INSERT: a call costs about 5 µs whatever it binds, so many rows share one. */
const ROWS_PER_INSERT = 32;
const COLUMNS = 4;

export class LiveWriter {
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
   * Runs in the caller's transaction.
   * @param {readonly Buffer[]} records sealed, each alone in its buffer; no deletions
   */
  add(records) {
    let at = 0;
    for (; at + ROWS_PER_INSERT <= records.length; at += ROWS_PER_INSERT) {
      this.#insertMany.run(records.slice(at, at + ROWS_PER_INSERT).flatMap(columnsOf));
    }
    for (const record of records.slice(at)) this.#insertOne.run(columnsOf(record));
  }

  /**
   * Runs in the caller's transaction.
   * @param {readonly number[]} ids
   */
  remove(ids) {
    if (ids.length > 0) this.#db.exec(`DELETE FROM live WHERE id IN (${ids.join(",")})`);
  }
}

/** @param {number} rows */
function insertSql(rows) {
  const values = Array.from(
    { length: rows },
    () => `(${Array.from({ length: COLUMNS }, () => "?").join(", ")})`,
  );
  return `INSERT INTO live (id, key, info, value) VALUES ${values.join(", ")}`;
}

/** @param {Buffer} record */
function columnsOf(record) {
  const { keyStart, valueStart, end } = layout(record, 0);
  return [
    record.readDoubleLE(0),
    record.toString("utf8", keyStart, valueStart),
    record.subarray(INFO_START, RECORD_HEADER_BYTES),
    record.subarray(valueStart, end),
  ];
}
