// @ts-check
/** Reads past commits for the archive, in bounded pieces. */
import { damagedStore, StoreFault } from "./fault.js";
import { FIRST_REVISION } from "./history-check.js";
import { recordsOf } from "./log-reader.js";
import { joinRecords, revisionOf, ROWS_PER_REVISION } from "./record.js";
import { packRows, ROW_COLUMNS } from "./rows.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./log-reader.js").LogReader} LogReader */
/** @typedef {import("./log-reader.js").LogRecord} LogRecord */
/** @typedef {import("./rows.js").Row} Row */

/**
 * Upper bound of a piece, which may exceed it by one revision. Each record may need another row of the log, for the one
 * that it supersedes.
 */
const PIECE = { records: 2 * ROWS_PER_REVISION, bytes: 4 << 20 };

export class PieceReader {
  #file;
  #log;
  #selectLive;

  /**
   * @param {Connection} db
   * @param {string} file
   * @param {LogReader} log
   */
  constructor(db, file, log) {
    this.#file = file;
    this.#log = log;
    this.#selectLive = db.prepare(`SELECT ${ROW_COLUMNS} FROM live WHERE id = ?`).raw();
  }

  /**
   * Returns the records after `after`, and those that they supersede unless the piece has them already.
   * @param {{ after: number, upTo: number, meta: Meta }} request
   * @returns {{ rows: Buffer, superseded: Buffer, through: number }}
   */
  read({ after, upTo, meta: { compacted, floor } }) {
    if (after < floor) {
      throw new StoreFault(
        "Compacted",
        `revision ${String(after + 1)} is compacted, the oldest is ${String(floor + 1)}`,
      );
    }
    const from = Math.max(after, FIRST_REVISION);
    const records = this.#records(from, upTo);
    if (from < upTo && records[0]?.revision !== from + 1)
      throw damagedStore(this.#file, `revision ${String(from + 1)} is missing`);
    const ids = new Set(records.map(({ fields }) => fields.id));
    const missing = records.map(({ fields }) => fields.prevId).filter((id) => id !== 0 && !ids.has(id));
    const superseded = [
      ...missing.filter((id) => revisionOf(id) <= compacted).map((id) => this.#liveRecord(id)),
      ...this.#log.find(missing.filter((id) => revisionOf(id) > compacted)),
    ];
    const through = records.at(-1)?.revision ?? upTo;
    return {
      rows: joinRecords(records.map(({ bytes }) => bytes)),
      superseded: joinRecords(superseded),
      through,
    };
  }

  /** @param {number} id */
  #liveRecord(id) {
    const rows = /** @type {Row[]} */ (this.#selectLive.all([id]));
    if (rows.length === 0) throw damagedStore(this.#file, `row ${String(id)} of table live is missing`);
    return packRows(rows, this.#file);
  }

  /**
   * Returns whole revisions within the bound of a piece.
   * @param {number} after
   * @param {number} upTo
   */
  #records(after, upTo) {
    /** @type {LogRecord[]} */
    const records = [];
    if (after >= upTo) return records;
    let bytes = 0;
    for (const row of this.#log.rowsFrom((after + 1) * ROWS_PER_REVISION, PIECE)) {
      for (const record of recordsOf(row, this.#file)) {
        if (record.revision <= after) continue;
        const isFull = records.length >= PIECE.records || bytes >= PIECE.bytes;
        if (record.revision > upTo || (isFull && records.at(-1)?.isLast === true)) return records;
        records.push(record);
        bytes += record.bytes.length;
      }
    }
    return records;
  }
}
