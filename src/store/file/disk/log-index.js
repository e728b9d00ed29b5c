// @ts-check
/**
 * What each record of the log is and what it supersedes, in memory, 20 bytes each: so that history is cut without reading what nobody needs
 * any more. Records come from the writers themselves or were checked when the store was loaded.
 */
import { glance, revisionOf, ROWS_PER_REVISION, viewOf } from "./record.js";

/**
 * A cut through history on its way. What was superseded up to its target is not looked at again, however the way there is divided.
 * @typedef {object} Cut
 * @property {number} after what was compacted when it began
 * @property {number} target
 * @property {ReadonlySet<number>} superseded ids
 */

/**
 * The next whole revisions of a cut, and what they mean for the table `live`.
 * @typedef {object} Step
 * @property {number} through the last of them
 * @property {number[]} survivors ids of the records that live at the target
 * @property {number[]} dead ids of the rows that do not
 * @property {number} bytes of the survivors
 */

/**
 * Where a step ends, at the latest with the revision that goes beyond any of these.
 * @typedef {object} StepLimit
 * @property {number} rows added and removed
 * @property {number} bytes added
 * @property {number} passed bytes of all records
 */

/** Of one cut, so that what it keeps in memory has a bound. */
const CUT_RECORDS = 1 << 17;

export class LogIndex {
  #ids = new Float64Array(1024);
  /** Negative for a deletion. */
  #prevIds = new Float64Array(1024);
  #bytes = new Uint32Array(1024);
  /** Records lie between these two. */
  #start = 0;
  #end = 0;

  /**
   * Whole transactions, behind those that are there.
   * @param {Buffer} records
   */
  add(records) {
    const view = viewOf(records);
    for (let start = 0; start < records.length;) {
      const { id, prevId, isDeletion, end } = glance(view, start);
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

  /** Where others have left, else in arrays of twice the size. */
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
