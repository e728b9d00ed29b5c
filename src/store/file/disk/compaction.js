// @ts-check
/**
 * Forgets history, a bounded piece at a time: for the rows after the compacted revision, the rows they supersede, and the
 * deletions among them. Each piece is complete in itself and moves the compacted revision, so a crash between two loses nothing.
 */
import { PAGE_BYTES, writeMeta } from "./database.js";
import { INFO_START, revisionOf, ROWS_PER_REVISION } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */

/**
 * @typedef {object} HistoryRow
 * @property {number} id
 * @property {number} prevId
 * @property {boolean} isDeletion
 * @property {boolean} isLast of its revision
 */

/** A commit waits for one piece at most, a few milliseconds. Holds at least one revision whole. */
const PIECE_ROWS = 2 * ROWS_PER_REVISION;
/** Freeing a value reads its overflow pages. */
const PIECE_BYTES = 1 << 20;
const PREV_AT = 40 - INFO_START;
const CHANGES_AT = 72 - INFO_START;

export class Compactor {
  #db;
  #select;

  /** @param {Connection} db */
  constructor(db) {
    this.#db = db;
    this.#select = db
      .prepare("SELECT id, info, length(value) FROM log WHERE id >= ? AND id < ? ORDER BY id LIMIT ?")
      .raw();
  }

  /**
   * Durable with the next commit's sync, not before: a piece may be lost, and is then done again.
   * @param {{ meta: Meta, head: Head, target: number }} request
   * @returns {{ meta: Meta, bytes: number }} the new meta, and about how much was written to the write-ahead log
   */
  piece({ meta, head, target }) {
    const { rows, compacted } = this.#next(meta.compacted, target);
    const doomed = rows.flatMap(({ id, prevId, isDeletion }) => (isDeletion ? [prevId, id] : [prevId]));
    const { clusterId } = meta;
    const next = {
      clusterId,
      compacted,
      head: head.revision,
      liveCount: head.liveCount,
      liveSum: head.liveSum,
    };
    this.#db.exec("BEGIN IMMEDIATE");
    this.#db.exec(`DELETE FROM log WHERE id IN (${doomed.join(",")})`);
    writeMeta(this.#db, next);
    this.#db.exec("COMMIT");
    return { meta: next, bytes: (doomed.length + 2) * PAGE_BYTES };
  }

  /**
   * Whole revisions only.
   * @param {number} after
   * @param {number} target
   * @returns {{ rows: HistoryRow[], compacted: number }}
   */
  #next(after, target) {
    const range = [(after + 1) * ROWS_PER_REVISION, (target + 1) * ROWS_PER_REVISION, PIECE_ROWS];
    const found = /** @type {[number, Buffer, number | null][]} */ (this.#select.all(range));
    const rows = [];
    let whole = 0;
    let bytes = 0;
    for (const [id, info, length] of found) {
      const isLast = (id % ROWS_PER_REVISION) + 1 === info.readUInt32LE(CHANGES_AT);
      rows.push({ id, prevId: info.readDoubleLE(PREV_AT), isDeletion: length === null, isLast });
      bytes += length ?? 0;
      if (isLast) whole = rows.length;
      if (isLast && bytes >= PIECE_BYTES) break;
    }
    const last = found.length === PIECE_ROWS || rows.length < found.length ? rows[whole - 1] : undefined;
    return { rows: rows.slice(0, whole), compacted: last === undefined ? target : revisionOf(last.id) };
  }
}
