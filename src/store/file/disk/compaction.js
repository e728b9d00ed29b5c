// @ts-check
/**
 * Forgets history, a bounded piece at a time: what still lives at the end of the piece moves from the log to the table
 * `live`, and what it supersedes there goes. Each piece is complete in itself and moves the compacted revision, so a crash
 * between two loses nothing. A row of the log goes with its last revision; until then its first records are passed over.
 */
import { PAGE_BYTES, writeMeta } from "./database.js";
import { damaged } from "./fault.js";
import { FIRST_REVISION } from "./history-check.js";
import { LiveWriter } from "./live-writer.js";
import { recordsOf } from "./log-reader.js";
import { revisionOf, ROWS_PER_REVISION } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */
/** @typedef {import("./log-reader.js").LogReader} LogReader */
/** @typedef {import("./log-reader.js").LogRecord} LogRecord */

/** A commit waits for one piece at most, a few milliseconds. A piece may be larger by one row. */
const PIECE = { records: 2 * ROWS_PER_REVISION, bytes: 1 << 20 };

export class Compactor {
  #db;
  #file;
  #log;
  #live;

  /**
   * @param {Connection} db
   * @param {string} file
   * @param {LogReader} log
   */
  constructor(db, file, log) {
    this.#db = db;
    this.#file = file;
    this.#log = log;
    this.#live = new LiveWriter(db);
  }

  /**
   * Durable with the next commit's sync, not before: a piece may be lost, and is then done again.
   * @param {{ meta: Meta, head: Head, target: number }} request
   * @returns {{ meta: Meta, bytes: number }} the new meta, and about how much was written to the write-ahead log
   */
  piece({ meta, head, target }) {
    const after = Math.max(meta.compacted, FIRST_REVISION);
    const { records, emptied } = this.#next(after, target);
    if (target > after && records[0]?.revision !== after + 1)
      throw damaged(this.#file, `revision ${String(after + 1)} is missing`);
    const compacted = records.at(-1)?.revision ?? target;
    const superseded = new Set(records.map(({ fields }) => fields.prevId));
    const survivors = records.filter(({ fields, isDeletion }) => !isDeletion && !superseded.has(fields.id));
    const dead = [...superseded].filter((id) => id !== 0 && revisionOf(id) <= meta.compacted);
    const { clusterId } = meta;
    const { revision, liveCount, liveSum } = head;
    const next = { clusterId, compacted, head: revision, liveCount, liveSum };
    this.#db.exec("BEGIN IMMEDIATE");
    if (emptied.length > 0) this.#db.exec(`DELETE FROM log WHERE id IN (${emptied.join(",")})`);
    this.#live.remove(dead);
    this.#live.add(survivors.map(({ bytes }) => bytes));
    writeMeta(this.#db, next);
    this.#db.exec("COMMIT");
    return { meta: next, bytes: (dead.length + emptied.length + 2) * PAGE_BYTES + bytesOf(survivors) };
  }

  /**
   * The records of the piece, and the rows of which nothing is left then.
   * @param {number} after
   * @param {number} target
   */
  #next(after, target) {
    /** @type {LogRecord[]} */
    const records = [];
    /** @type {number[]} */
    const emptied = [];
    for (const row of this.#log.rowsFrom((after + 1) * ROWS_PER_REVISION, PIECE)) {
      if (records.length >= PIECE.records) break;
      for (const record of recordsOf(row, this.#file)) {
        if (record.revision > target) return { records, emptied };
        if (record.revision > after) records.push(record);
      }
      emptied.push(row[0]);
    }
    return { records, emptied };
  }
}

/** @param {readonly LogRecord[]} records */
function bytesOf(records) {
  let bytes = 0;
  for (const record of records) bytes += record.bytes.length;
  return bytes;
}
