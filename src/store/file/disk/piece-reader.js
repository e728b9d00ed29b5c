// @ts-check
/** Reads commits of the past for the archive, a bounded piece at a time. */
import { damaged, StoreFault } from "./fault.js";
import { FIRST_REVISION } from "./history-check.js";
import { INFO_START, ROWS_PER_REVISION } from "./record.js";
import { packRows, recordBytes, ROW_COLUMNS } from "./rows.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./rows.js").Row} Row */

/** A piece may be larger by one revision. */
const PIECE_ROWS = 1000;
const PIECE_BYTES = 4 << 20;
const PREV_AT = 40 - INFO_START;

export class PieceReader {
  #select;
  #selectOne;

  /** @param {Connection} db */
  constructor(db) {
    this.#select = db.prepare(`SELECT ${ROW_COLUMNS} FROM log WHERE id >= ? AND id < ? ORDER BY id`).raw();
    this.#selectOne = db.prepare(`SELECT ${ROW_COLUMNS} FROM log WHERE id = ?`).raw();
  }

  /**
   * The rows after `after`, and the rows they supersede unless they are among them.
   * @param {{ file: string, after: number, upTo: number, compacted: number }} request
   * @returns {{ rows: Buffer, superseded: Buffer, through: number }}
   */
  read({ file, after, upTo, compacted }) {
    if (after < compacted) {
      throw new StoreFault(
        "Compacted",
        `revision ${String(after + 1)} is compacted, the oldest is ${String(compacted + 1)}`,
      );
    }
    const { rows, through } = this.#rows(Math.max(after, FIRST_REVISION), upTo);
    const ids = new Set(rows.map(([id]) => id));
    const missing = rows
      .map(([, , info]) => info.readDoubleLE(PREV_AT))
      .filter((id) => id !== 0 && !ids.has(id));
    const superseded = missing.map((id) => this.#row(id, file));
    return { rows: packRows(rows, file), superseded: packRows(superseded, file), through };
  }

  /**
   * @param {number} id
   * @param {string} file
   */
  #row(id, file) {
    const [row] = /** @type {Row[]} */ (this.#selectOne.all([id]));
    if (row === undefined) throw damaged(file, `row ${String(id)} of table log is missing`);
    return row;
  }

  /**
   * Revision by revision, so that no more is read than the piece may hold.
   * @param {number} after
   * @param {number} upTo
   */
  #rows(after, upTo) {
    /** @type {Row[]} */
    const rows = [];
    let bytes = 0;
    let through = after;
    while (through < upTo && rows.length < PIECE_ROWS && bytes < PIECE_BYTES) {
      through += 1;
      const range = [through * ROWS_PER_REVISION, (through + 1) * ROWS_PER_REVISION];
      const found = /** @type {Row[]} */ (this.#select.all(range));
      for (const row of found) bytes += recordBytes(row);
      rows.push(...found);
    }
    return { rows, through };
  }
}
