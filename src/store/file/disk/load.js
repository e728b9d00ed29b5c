// @ts-check
/** Reads and checks a whole store, and passes its rows on in bounded slabs. Changes nothing on disk. */
import { checkSchema, openReadOnly, readMeta, reading } from "./database.js";
import { damagedStore } from "./fault.js";
import { HistoryCheck } from "./history-check.js";
import { LogIndex } from "./log-index.js";
import { recordsOf } from "./log-reader.js";
import { joinRecords, readFields, recordEnd } from "./record.js";
import { packRows, recordBytes, ROW_COLUMNS } from "./rows.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */
/** @typedef {import("./log-reader.js").LogRow} LogRow */
/** @typedef {import("./rows.js").Row} Row */

/**
 * Size of a slab: large enough to cost little per row, small enough that one live value keeps little dead memory. A
 * larger record gets its own slab.
 */
const SLAB_BYTES = 64 << 10;

/**
 * Throws StoreFault `Damaged` unless every acknowledged write that was not compacted is present.
 * @param {string} file
 * @param {(slab: Buffer) => void} emit takes the slab over
 * @returns {{ meta: Meta, head: Head, index: LogIndex }} the index is of what the log holds
 */
export function loadStore(file, emit) {
  return reading(file, () => {
    const db = openReadOnly(file);
    checkSchema(db, file);
    // Checked before the rows: a page in use that is also on the free list would be overwritten one day.
    quickCheck(db, file);
    const meta = readMeta(db, file);
    const check = new HistoryCheck(file, meta);
    const slabs = new Slabs(emit);
    const index = new LogIndex();
    for (const slab of liveSlabs(db, file)) {
      for (let start = 0; start < slab.length; start = recordEnd(slab, start))
        check.live(readFields(slab, start));
      emit(slab);
    }
    for (const { bytes, fields, isDeletion } of logRecords(db, file)) {
      if (!check.change(fields, isDeletion)) continue;
      slabs.add(bytes);
      index.add(bytes);
    }
    slabs.end();
    const head = check.end();
    db.close();
    return { meta, head, index };
  });
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function quickCheck(db, file) {
  const findings = db.prepare("PRAGMA quick_check(1)").raw().all().flat();
  if (findings[0] !== "ok") throw damagedStore(file, `SQLite finds it damaged: ${String(findings[0])}`);
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function* liveSlabs(db, file) {
  /** @type {Row[]} */
  let rows = [];
  let bytes = 0;
  for (const found of db.prepare(`SELECT ${ROW_COLUMNS} FROM live ORDER BY id`).raw().iterate()) {
    const row = /** @type {Row} */ (found);
    const size = recordBytes(row, file);
    if (rows.length > 0 && bytes + size > SLAB_BYTES) {
      yield packRows(rows, file);
      rows = [];
      bytes = 0;
    }
    rows.push(row);
    bytes += size;
  }
  if (rows.length > 0) yield packRows(rows, file);
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function* logRecords(db, file) {
  for (const row of db.prepare("SELECT id, records FROM log ORDER BY id").raw().iterate()) {
    yield* recordsOf(/** @type {LogRow} */ (row), file);
  }
}

/** Collects records into slabs. */
class Slabs {
  #emit;
  /** @type {Buffer[]} */
  #records = [];
  #bytes = 0;

  /** @param {(slab: Buffer) => void} emit */
  constructor(emit) {
    this.#emit = emit;
  }

  /** @param {Buffer} record */
  add(record) {
    if (this.#bytes + record.length > SLAB_BYTES) this.end();
    this.#records.push(record);
    this.#bytes += record.length;
  }

  /** Passes on the records that were added since. */
  end() {
    if (this.#bytes > 0) this.#emit(joinRecords(this.#records));
    this.#records = [];
    this.#bytes = 0;
  }
}
