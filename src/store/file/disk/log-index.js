// @ts-check
/**
 * Index in memory of the log's records, those that they supersede and those that supersede them, 28 bytes each, so that
 * cutting history reads no superseded values. Records come from the writers or were checked when the store was loaded.
 */
import { readRecordHead, revisionOf, ROWS_PER_REVISION, viewOf } from "./record.js";

/**
 * A cut of history in progress. Records superseded up to its target are skipped, however the cut is divided into steps.
 * Its first steps delete the superseded rows of the table `live`, in order, so that rows of one page go together.
 * @typedef {object} Cut
 * @property {number} after what was compacted when it began
 * @property {number} target
 * @property {Float64Array} dead ids of the superseded rows of `live`, in ascending order
 * @property {number} removed how many of them earlier steps have deleted
 */

/**
 * The next part of a cut, and its effect on the table `live`.
 * @typedef {object} Step
 * @property {number} through the last revision that is complete
 * @property {number[]} survivors ids of the records that live at the target
 * @property {number[]} dead ids of the rows that do not
 * @property {number} bytes of the survivors
 */

/**
 * Limits of a step. It ends with the revision that exceeds any of the last three.
 * @typedef {object} StepLimit
 * @property {number} removed rows
 * @property {number} added rows
 * @property {number} bytes added
 * @property {number} passed bytes of all records
 */

/**
 * Upper bounds of a cut, to find and sort its dead rows in a few milliseconds. A short cut moves more records that are
 * superseded soon after; but many dead rows show that most records are not.
 */
const CUT = { records: 1 << 17, dead: 1 << 15 };

export class LogIndex {
  #ids = new Float64Array(1024);
  /** Id of the superseded record; negative for a deletion. */
  #prevIds = new Float64Array(1024);
  /** Id of the record that supersedes it; 0 while it lives. */
  #nextIds = new Float64Array(1024);
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
      this.#nextIds[this.#end] = 0;
      this.#bytes[this.#end] = end - start;
      this.#supersede(prevId, id);
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
    const dead = [];
    let at = this.#start;
    for (; at < this.#end && this.#revisionAt(at) <= target; at += 1) {
      const isNewRevision = at > this.#start && this.#revisionAt(at) !== this.#revisionAt(at - 1);
      const isFull = at - this.#start >= CUT.records || dead.length >= CUT.dead;
      if (isNewRevision && isFull) break;
      const prevId = Math.abs(Number(this.#prevIds[at]));
      if (prevId !== 0 && revisionOf(prevId) <= after) dead.push(prevId);
    }
    const isWhole = at === this.#end || this.#revisionAt(at) > target;
    const reached = isWhole ? target : this.#revisionAt(at - 1);
    return { after, target: reached, dead: Float64Array.from(dead).sort(), removed: 0 };
  }

  /**
   * Returns the next step of the cut; the caller counts its deleted rows once they are gone.
   * @param {Cut} cut
   * @param {StepLimit} limit
   * @returns {Step}
   */
  step(cut, limit) {
    const dead = [...cut.dead.subarray(cut.removed, cut.removed + limit.removed)];
    const isRemoved = cut.removed + dead.length === cut.dead.length;
    if (!isRemoved) return { through: cut.after, survivors: [], dead, bytes: 0 };
    return { ...this.#pass(cut, limit), dead };
  }

  /**
   * Passes whole revisions.
   * @param {Cut} cut
   * @param {StepLimit} limit
   */
  #pass({ target }, limit) {
    const survivors = [];
    let bytes = 0;
    let passed = 0;
    for (let at = this.#start; at < this.#end; at += 1) {
      const revision = this.#revisionAt(at);
      if (revision > target) break;
      const id = Number(this.#ids[at]);
      const isFull = survivors.length >= limit.added || bytes >= limit.bytes || passed >= limit.passed;
      if (isFull && id % ROWS_PER_REVISION === 0) return { through: revision - 1, survivors, bytes };
      const size = Number(this.#bytes[at]);
      passed += size;
      if (!this.#livesAt(at, target)) continue;
      survivors.push(id);
      bytes += size;
    }
    return { through: target, survivors, bytes };
  }

  /**
   * @param {number} at
   * @param {number} revision
   */
  #livesAt(at, revision) {
    const isDeletion = Number(this.#prevIds[at]) < 0;
    const nextId = Number(this.#nextIds[at]);
    return !isDeletion && (nextId === 0 || revisionOf(nextId) > revision);
  }

  /**
   * Notes it with the superseded record, unless that is no longer in the log.
   * @param {number} prevId
   * @param {number} id
   */
  #supersede(prevId, id) {
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Number(this.#ids[middle]) < prevId) low = middle + 1;
      else high = middle;
    }
    if (low < this.#end && this.#ids[low] === prevId) this.#nextIds[low] = id;
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
    this.#nextIds = moved(this.#nextIds, new Float64Array(size), this.#start);
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
