// @ts-check
/**
 * Drops history in bounded pieces: first superseded values are deleted from the table `live`, then values that are live
 * at the end of the cut move there from the log. A piece is one transaction that leaves a complete store, so a crash
 * between two pieces loses nothing. A row of the log is deleted with its last revision; until then its first records
 * are skipped.
 */
import { PAGE_BYTES, writeMeta } from "./database.js";
import { LiveWriter } from "./live-writer.js";
import { ROWS_PER_REVISION } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */
/** @typedef {import("./log-index.js").Cut} Cut */
/** @typedef {import("./log-index.js").LogIndex} LogIndex */
/** @typedef {import("./log-reader.js").LogReader} LogReader */

/**
 * Upper bound of a piece, which a commit may have to wait for. A deleted row may write a page of its own, and a passed
 * page of the log is read. So a piece writes about a megabyte.
 */
const PIECE = { removed: 64, added: 2 * ROWS_PER_REVISION, bytes: 512 << 10, passed: 4 << 20 };

export class FileCompactor {
  #db;
  #index;
  #log;
  #live;
  #deleteRows;
  /** @type {Cut | undefined} */
  #cut;

  /**
   * @param {Connection} db
   * @param {LogIndex} index of what the log holds, kept up by its owner
   * @param {LogReader} log
   */
  constructor(db, index, log) {
    this.#db = db;
    this.#index = index;
    this.#log = log;
    this.#live = new LiveWriter(db);
    this.#deleteRows = db.prepare("DELETE FROM log WHERE id < ?");
  }

  /**
   * Becomes durable with the next commit's sync: a lost piece is simply repeated.
   * @param {{ meta: Meta, head: Head, target: number }} request
   * @returns {{ meta: Meta, bytes: number }} the new meta, and about how much was written to the write-ahead log
   */
  piece({ meta, head, target }) {
    const cut = this.#cutTo(target, meta);
    const { through, survivors, dead, bytes } = this.#index.step(cut, PIECE);
    const { clusterId } = meta;
    const { revision, liveCount, liveSum } = head;
    const next = { clusterId, compacted: through, floor: cut.target, head: revision, liveCount, liveSum };
    const moved = this.#log.find(survivors);
    this.#db.exec("BEGIN IMMEDIATE");
    const { changes } = this.#deleteRows.run([this.#firstRowAfter(through, revision)]);
    this.#live.remove(dead);
    this.#live.add(moved);
    writeMeta(this.#db, next);
    this.#db.exec("COMMIT");
    cut.removed += dead.length;
    return { meta: next, bytes: (dead.length + changes + 2) * PAGE_BYTES + bytes };
  }

  /**
   * Returns the cut in progress, or the next one. A cut that a crash interrupted reaches at least its old target.
   * @param {number} target
   * @param {Meta} meta
   */
  #cutTo(target, { compacted, floor }) {
    if (this.#cut === undefined || this.#cut.target <= compacted)
      this.#cut = this.#index.cut(compacted, Math.max(target, floor));
    return this.#cut;
  }

  /**
   * Id of the first row that is not completely compacted.
   * @param {number} through
   * @param {number} newest
   */
  #firstRowAfter(through, newest) {
    const next = (through + 1) * ROWS_PER_REVISION;
    return through === newest ? next : this.#log.rowIdOf(next);
  }
}
