// @ts-check
/**
 * Checks that no record of a store is missing, reading them once in order of id. Checksums protect the content
 * of a record; these rules reveal missing records:
 *
 * - above the compacted revision every revision has all of its records, in the log;
 * - at or below it only live records count;
 * - every record names the superseded one, which is present or was compacted on the way to the floor;
 * - from the floor on, each transaction states the number of live keys after it and the sum of their ids.
 *   `meta` states both for the compacted revision.
 */
import { damagedStore } from "./fault.js";
import { addToLiveSum, revisionOf, ROWS_PER_REVISION, takeFromLiveSum } from "./record.js";

/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./record.js").RecordFields} RecordFields */

/** Revision of the empty store, as in etcd; the first transaction gets the next one. */
export const FIRST_REVISION = 1;

/**
 * The newest revision and the live keys at it.
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
  /** Number of records seen and expected for the transaction at `#revision`. */
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

  /** @param {RecordFields} fields of a value at the compacted revision; all of them come first */
  live({ id }) {
    if (revisionOf(id) > this.#meta.compacted)
      throw this.#broken(`row ${String(id)} of table live is not of the past`);
    this.#add(id);
  }

  /**
   * Checks a change of the log. Returns whether it counts: a compacted change is already among the live values.
   * @param {RecordFields} fields
   * @param {boolean} isDeletion
   */
  change(fields, isDeletion) {
    const { id, prevId } = fields;
    if (revisionOf(id) <= this.#meta.compacted) return false;
    this.#placeInHistory(fields);
    if (prevId !== 0) this.#supersede(id, prevId);
    if (isDeletion) this.#ids.push(id);
    else this.#add(id);
    if (this.#seen === this.#changes && this.#revision >= this.#meta.floor) this.#compareLive(fields);
    return true;
  }

  /** @returns {Head} */
  end() {
    if (this.#seen !== this.#changes)
      throw this.#broken(`revision ${String(this.#revision)} is not complete`);
    const { head, liveCount, liveSum } = this.#meta;
    if (this.#revision < Math.max(head, this.#meta.floor))
      throw this.#broken(`the revisions after ${String(this.#revision)} are missing`);
    if (this.#changes === 0) this.#compareLive({ liveCount, liveSum });
    return { revision: this.#revision, liveCount: this.#liveCount, liveSum: this.#liveSum };
  }

  /** @param {number} id */
  #add(id) {
    this.#ids.push(id);
    this.#liveCount += 1;
    this.#liveSum = addToLiveSum(this.#liveSum, id);
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
      throw this.#broken(`record ${String(expected)} is missing`);
    this.#seen += 1;
  }

  /**
   * @param {number} id
   * @param {number} prevId
   */
  #supersede(id, prevId) {
    if (!this.#ids.has(prevId)) {
      if (this.#isForgotten(id, prevId)) return;
      throw this.#broken(`record ${String(prevId)}, superseded by ${String(id)}, is missing`);
    }
    this.#liveCount -= 1;
    this.#liveSum = takeFromLiveSum(this.#liveSum, prevId);
  }

  /**
   * Whether a cut in progress may have deleted it already.
   * @param {number} id
   * @param {number} prevId
   */
  #isForgotten(id, prevId) {
    const { compacted, floor } = this.#meta;
    return revisionOf(prevId) <= compacted && revisionOf(id) <= floor;
  }

  /** @param {{ liveCount: number, liveSum: number }} expected */
  #compareLive({ liveCount, liveSum }) {
    if (liveCount === this.#liveCount && liveSum === this.#liveSum) return;
    throw this.#broken(
      `records are missing: ${String(this.#liveCount)} of ${String(liveCount)} keys live at revision ${String(this.#revision)} ` +
        "were found, or others than there should be",
    );
  }

  /** @param {string} what */
  #broken(what) {
    return damagedStore(this.#file, what);
  }
}

/** Ids in ascending order, 8 bytes each. */
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
