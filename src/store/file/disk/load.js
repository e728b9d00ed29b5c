// @ts-check
/** Reads a whole store, checks it, and hands the rows on in bounded slabs. Changes nothing on disk. */
import { checkSchema, openReadOnly, readMeta, reading } from "./database.js";
import { damaged } from "./fault.js";
import { HistoryCheck } from "./history-check.js";
import { layout, readFields } from "./record.js";
import { packRows, recordBytes, ROW_COLUMNS } from "./rows.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */
/** @typedef {import("./rows.js").Row} Row */

/**
 * Big enough that a slab costs little per row, small enough that one live value does not keep much dead memory alive.
 * A record that is larger gets its own.
 */
const SLAB_BYTES = 64 << 10;

/**
 * Throws StoreFault `Damaged` unless everything ever acknowledged and not compacted is there.
 * @param {string} file
 * @param {(slab: Buffer) => void} emit takes the slab over
 * @returns {{ meta: Meta, head: Head }}
 */
export function loadStore(file, emit) {
  return reading(file, () => {
    const db = openReadOnly(file);
    checkSchema(db, file);
    // Before the rows: a page that is in use and also on the list of free pages would be overwritten one day.
    quickCheck(db, file);
    const meta = readMeta(db, file);
    const check = new HistoryCheck(file, meta);
    for (const slab of slabs(db, file)) {
      for (let start = 0; start < slab.length;) {
        const { end, isDeletion } = layout(slab, start);
        check.row(readFields(slab, start), isDeletion);
        start = end;
      }
      emit(slab);
    }
    const head = check.end();
    db.close();
    return { meta, head };
  });
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function quickCheck(db, file) {
  const findings = db.prepare("PRAGMA quick_check(1)").raw().all().flat();
  if (findings[0] !== "ok") throw damaged(file, `SQLite finds it damaged: ${String(findings[0])}`);
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function* slabs(db, file) {
  /** @type {Row[]} */
  let rows = [];
  let bytes = 0;
  for (const found of db.prepare(`SELECT ${ROW_COLUMNS} FROM log ORDER BY id`).raw().iterate()) {
    const row = /** @type {Row} */ (found);
    const size = recordBytes(row);
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
