// @ts-check
/**
 * Whether the rows of a log, seen once in order of id, are all there and fit together. Checksums guard what a row says;
 * this guards against rows that are missing:
 *
 * - above the compacted revision every revision has all of its rows;
 * - at or below it there are only values, no deletions;
 * - every row names the row it supersedes, and that one is there;
 * - after each transaction the number of live keys and the sum of their row ids are what the transaction said.
 *   At the compacted revision itself, `meta` says it.
 */
import { damaged } from "./fault.js";
import { addToLiveSum, revisionOf, ROWS_PER_REVISION, takeFromLiveSum } from "./record.js";

/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./record.js").RecordFields} RecordFields */

/** The empty store, as etcd's; the first transaction gets the next one. */
export const FIRST_REVISION = 1;

/**
 * The newest revision and what is live at it.
 * @typedef {object} Head
 * @property {number} revision
 * @property {number} liveCount
 * @property {number} liveSum
 */

export class HistoryCheck {
  #file;
  #meta;
  #ids = new IdList();
  #revision;
  /** Rows of the transaction at `#revision` that were seen, and that there must be. */
  #seen = 0;
  #changes = 0;
  #liveCount = 0;
  #liveSum = 0;

  /**
   * @param {string} file
   * @param {Meta} meta
   */
  constructor(file, meta) {
    this.#file = file;
    this.#meta = meta;
    this.#revision = Math.max(meta.compacted, FIRST_REVISION);
  }

  /**
   * @param {RecordFields} fields
   * @param {boolean} isDeletion
   */
  row(fields, isDeletion) {
    const { id, prevId } = fields;
    if (revisionOf(id) > this.#meta.compacted) {
      this.#placeInHistory(fields);
      if (prevId !== 0) this.#supersede(id, prevId);
    } else if (isDeletion) {
      throw this.#broken(`the deletion in row ${String(id)} should have been compacted`);
    }
    this.#ids.push(id);
    if (!isDeletion) {
      this.#liveCount += 1;
      this.#liveSum = addToLiveSum(this.#liveSum, id);
    }
    if (this.#changes > 0 && this.#seen === this.#changes) this.#compareLive(fields);
  }

  /** @returns {Head} */
  end() {
    if (this.#seen !== this.#changes)
      throw this.#broken(`revision ${String(this.#revision)} is not complete`);
    const { head, liveCount, liveSum } = this.#meta;
    if (this.#revision < head)
      throw this.#broken(`the revisions after ${String(this.#revision)} are missing`);
    if (this.#changes === 0) this.#compareLive({ liveCount, liveSum });
    return { revision: this.#revision, liveCount: this.#liveCount, liveSum: this.#liveSum };
  }

  /** @param {RecordFields} fields */
  #placeInHistory({ id, changes }) {
    const revision = revisionOf(id);
    if (this.#seen === this.#changes) {
      if (revision !== this.#revision + 1)
        throw this.#broken(`revision ${String(this.#revision + 1)} is missing`);
      this.#revision = revision;
      this.#seen = 0;
      this.#changes = changes;
    }
    const expected = this.#revision * ROWS_PER_REVISION + this.#seen;
    if (id !== expected || changes !== this.#changes)
      throw this.#broken(`row ${String(expected)} is missing`);
    this.#seen += 1;
  }

  /**
   * @param {number} id
   * @param {number} prevId
   */
  #supersede(id, prevId) {
    if (!this.#ids.has(prevId))
      throw this.#broken(`row ${String(prevId)}, superseded by ${String(id)}, is missing`);
    this.#liveCount -= 1;
    this.#liveSum = takeFromLiveSum(this.#liveSum, prevId);
  }

  /** @param {{ liveCount: number, liveSum: number }} expected */
  #compareLive({ liveCount, liveSum }) {
    if (liveCount === this.#liveCount && liveSum === this.#liveSum) return;
    throw this.#broken(
      `rows are missing: ${String(this.#liveCount)} of ${String(liveCount)} keys live at revision ${String(this.#revision)} ` +
        "were found, or others than there should be",
    );
  }

  /** @param {string} what */
  #broken(what) {
    return damaged(this.#file, what);
  }
}

/** Ids in ascending order; 8 bytes each. */
class IdList {
  #ids = new Float64Array(1024);
  #length = 0;

  /** @param {number} id */
  push(id) {
    if (this.#length === this.#ids.length) {
      const grown = new Float64Array(this.#length * 2);
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids[this.#length] = id;
    this.#length += 1;
  }

  /** @param {number} id */
  has(id) {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Number(this.#ids[middle]) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.#length && this.#ids[low] === id;
  }
}
