// @ts-check
/**
 * Index in memory of the log's records and those that they supersede, 20 bytes each, so that cutting history reads no
 * superseded values. Records come from the writers or were checked when the store was loaded.
 */
import { readRecordHead, revisionOf, ROWS_PER_REVISION, viewOf } from "./record.js";

/**
 * A cut of history in progress. Records superseded up to its target are skipped, however the cut is divided into steps.
 * @typedef {object} Cut
 * @property {number} after what was compacted when it began
 * @property {number} target
 * @property {ReadonlySet<number>} superseded ids
 */

/**
 * The next whole revisions of a cut, and their effect on the table `live`.
 * @typedef {object} Step
 * @property {number} through the last of them
 * @property {number[]} survivors ids of the records that live at the target
 * @property {number[]} dead ids of the rows that do not
 * @property {number} bytes of the survivors
 */

/**
 * Limits of a step: it ends with the revision that exceeds any of them.
 * @typedef {object} StepLimit
 * @property {number} rows added and removed
 * @property {number} bytes added
 * @property {number} passed bytes of all records
 */

/** Upper bound of records per cut, which bounds its memory. */
const CUT_RECORDS = 1 << 17;

export class LogIndex {
  #ids = new Float64Array(1024);
  /** Id of the superseded record; negative for a deletion. */
  #prevIds = new Float64Array(1024);
  #bytes = new Uint32Array(1024);
  /** Bounds of the records in the arrays. */
  #start = 0;
  #end = 0;

  /**
   * Appends the records of whole transactions.
   * @param {Buffer} records
   */
  add(records) {
    const view = viewOf(records);
    for (let start = 0; start < records.length;) {
      const { id, prevId, isDeletion, end } = readRecordHead(view, start);
      if (this.#end === this.#ids.length) this.#makeRoom();
      this.#ids[this.#end] = id;
      this.#prevIds[this.#end] = isDeletion ? -prevId : prevId;
      this.#bytes[this.#end] = end - start;
      this.#end += 1;
      start = end;
    }
  }

  /** @param {number} revision forgotten with all before it */
  drop(revision) {
    while (this.#start < this.#end && this.#revisionAt(this.#start) <= revision) this.#start += 1;
  }

  /**
   * @param {number} after nothing up to here is left
   * @param {number} target not beyond the newest record
   * @returns {Cut} to the target or as far as one cut may go
   */
  cut(after, target) {
    /** @type {Set<number>} */
    const superseded = new Set();
    let at = this.#start;
    for (; at < this.#end && this.#revisionAt(at) <= target; at += 1) {
      const isNewRevision = at > this.#start && this.#revisionAt(at) !== this.#revisionAt(at - 1);
      if (isNewRevision && at - this.#start >= CUT_RECORDS)
        return { after, target: this.#revisionAt(at - 1), superseded };
      superseded.add(Math.abs(Number(this.#prevIds[at])));
    }
    return { after, target, superseded };
  }

  /**
   * @param {Cut} cut
   * @param {StepLimit} limit
   * @returns {Step}
   */
  step({ after, target, superseded }, limit) {
    const survivors = [];
    const dead = [];
    let bytes = 0;
    let passed = 0;
    for (let at = this.#start; at < this.#end; at += 1) {
      const revision = this.#revisionAt(at);
      if (revision > target) break;
      const id = Number(this.#ids[at]);
      const isFull =
        survivors.length + dead.length >= limit.rows || bytes >= limit.bytes || passed >= limit.passed;
      if (isFull && id % ROWS_PER_REVISION === 0) return { through: revision - 1, survivors, dead, bytes };
      const prevId = Number(this.#prevIds[at]);
      const isDeletion = prevId < 0;
      const prevRevision = revisionOf(Math.abs(prevId));
      if (prevId !== 0 && prevRevision <= after) dead.push(Math.abs(prevId));
      const size = Number(this.#bytes[at]);
      passed += size;
      if (isDeletion || superseded.has(id)) continue;
      survivors.push(id);
      bytes += size;
    }
    return { through: target, survivors, dead, bytes };
  }

  /** @param {number} at */
  #revisionAt(at) {
    return revisionOf(Number(this.#ids[at]));
  }

  /** Moves the records to the start of the arrays if half is free, otherwise into arrays of twice the size. */
  #makeRoom() {
    const length = this.#end - this.#start;
    const size = length * 2 <= this.#ids.length ? this.#ids.length : this.#ids.length * 2;
    this.#ids = moved(this.#ids, new Float64Array(size), this.#start);
    this.#prevIds = moved(this.#prevIds, new Float64Array(size), this.#start);
    this.#bytes = moved(this.#bytes, new Uint32Array(size), this.#start);
    this.#start = 0;
    this.#end = length;
  }
}

/**
 * @template {Float64Array | Uint32Array} T
 * @param {T} from
 * @param {T} to
 * @param {number} start
 */
function moved(from, to, start) {
  to.set(from.subarray(start));
  return to;
}
