import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
// @ts-check
/**
 * The SQLite file: its schema, how it is opened, and the one row of `meta`.
 * `log` holds every change after the compacted revision in order, one row per batch of commits. It is append-only and
 * has no index, because all reads come from memory.
 * `live` holds the values that are live at the compacted revision, one row each, so that each can be deleted alone. The
 * sqlite3 tool can read its keys and values.
 * During a cut, rows that the log supersedes up to the floor may be missing. Records and `info`: see record.js.
 */
import Database from "libsql";
import { damagedStore, messageOf, sqliteCode, StoreFault } from "./fault.js";

/** @typedef {import("libsql").Database} Connection */

const FORMAT = 3;
/**
 * Time to wait for locks. Other processes only read (a backup, the sqlite3 tool) and hold locks briefly, when they open
 * and close.
 */
export const BUSY_TIMEOUT = "PRAGMA busy_timeout = 5000";
/** "SETP": distinguishes the store's files from other SQLite files. */
const APPLICATION_ID = 0x53455450;

/**
 * Large pages make batches and checkpoints cheaper: 64 rows of 1.5 KiB take 0.59 ms instead of 0.80 with 4 KiB,
 * checkpoints included. A single small row costs no measurable time beside its sync.
 */
export const PAGE_BYTES = 16 << 10;

const SCHEMA = [
  "CREATE TABLE live (id INTEGER PRIMARY KEY, key TEXT NOT NULL, info BLOB NOT NULL, value BLOB NOT NULL)",
  "CREATE TABLE log (id INTEGER PRIMARY KEY, records BLOB NOT NULL)",
  "CREATE TABLE meta (id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, compacted INTEGER NOT NULL, " +
    "floor INTEGER NOT NULL, head INTEGER NOT NULL, live_count INTEGER NOT NULL, live_sum INTEGER NOT NULL, crc INTEGER NOT NULL)",
];

/**
 * State of the store beyond its rows. `compacted`: superseded values and deletions up to this revision are gone.
 * `floor`: those up to this revision are being deleted, and no reader sees an older revision; equal to `compacted`
 * unless a cut is in progress. The other fields describe the newest revision at the last compaction, whose own rows may
 * be gone (a compacted deletion).
 * @typedef {object} Meta
 * @property {string} clusterId
 * @property {number} compacted
 * @property {number} floor
 * @property {number} head
 * @property {number} liveCount
 * @property {number} liveSum
 */

/** @param {Meta} meta */
function metaColumns({ clusterId, compacted, floor, head, liveCount, liveSum }) {
  const columns = [clusterId, compacted, floor, head, liveCount, liveSum];
  return [...columns, crc32(columns.join(" "))];
}

/**
 * Runs in the caller's transaction.
 * @param {Connection} db
 * @param {Meta} meta
 */
export function writeMeta(db, meta) {
  // Uses no bound parameters: libsql keeps a connection open until its prepared statements are garbage-collected.
  const values = metaColumns(meta).map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  db.exec(`INSERT OR REPLACE INTO meta VALUES (1, ${values.join(", ")})`);
}

/**
 * @param {Connection} db
 * @param {string} file
 * @returns {Meta}
 */
export function readMeta(db, file) {
  const rows = /** @type {[string, number, number, number, number, number, number][]} */ (
    db.prepare("SELECT cluster, compacted, floor, head, live_count, live_sum, crc FROM meta").raw().all()
  );
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw damagedStore(file, `table meta has ${String(rows.length)} rows instead of 1`);
  const [clusterId, compacted, floor, head, liveCount, liveSum, crc] = row;
  const meta = { clusterId, compacted, floor, head, liveCount, liveSum };
  if (metaColumns(meta).at(-1) !== crc) throw damagedStore(file, "the checksum of table meta does not hold");
  return meta;
}

/**
 * @param {Connection} db
 * @param {string} name
 * @returns {unknown}
 */
export function pragma(db, name) {
  const [row] = /** @type {unknown[][]} */ (db.prepare(`PRAGMA ${name}`).raw().all());
  return row?.[0];
}

/**
 * Opens the file so that neither it nor its log can change, not even by the checkpoint when the last connection closes.
 * @param {string} file
 * @returns {Connection}
 */
export function openReadOnly(file) {
  const db = new Database(`${pathToFileURL(file).href}?mode=ro`);
  db.exec(BUSY_TIMEOUT);
  return db;
}

/**
 * Throws unless the file is a store of this format; checks only the schema.
 * @param {Connection} db
 * @param {string} file
 */
export function checkSchema(db, file) {
  const id = readHeader(db, file);
  if (id !== APPLICATION_ID) {
    throw new StoreFault(
      "Damaged",
      `${file}: is a SQLite database, but not a store of setpoint. Move it away`,
    );
  }
  const format = Number(pragma(db, "user_version"));
  if (format > FORMAT) {
    throw new StoreFault(
      "Damaged",
      `${file}: has format ${String(format)}, written by a newer setpoint; use that one`,
    );
  }
  if (format > 0 && format < FORMAT) {
    throw new StoreFault(
      "Damaged",
      `${file}: has format ${String(format)}, written by an older setpoint, and this one reads format ${String(FORMAT)} only. ` +
        "Nothing was changed. Go on with the older one, or move the directory away to start with an empty store",
    );
  }
  const found = db.prepare("SELECT sql FROM sqlite_schema ORDER BY name").raw().all().flat();
  if (format !== FORMAT || found.join("\n") !== SCHEMA.join("\n"))
    throw damagedStore(file, "its tables are not those of a store");
}

/**
 * @param {Connection} db
 * @param {string} file
 */
function readHeader(db, file) {
  try {
    return Number(pragma(db, "application_id"));
  } catch (error) {
    if (sqliteCode(error) !== "SQLITE_NOTADB") throw error;
    throw damagedStore(file, "is not a database");
  }
}

/**
 * Creates a temporary file with empty tables. The caller fills them, including `meta`, closes and syncs it.
 * @param {string} file
 * @returns {Connection}
 */
export function createDatabase(file) {
  const db = new Database(file);
  db.exec(`PRAGMA page_size = ${String(PAGE_BYTES)}; PRAGMA encoding = 'UTF-8'; PRAGMA synchronous = OFF`);
  db.exec(`PRAGMA application_id = ${String(APPLICATION_ID)}; PRAGMA user_version = ${String(FORMAT)}`);
  for (const statement of SCHEMA) db.exec(statement);
  return db;
}

/**
 * Switches a temporary file to the mode in which `openWritable` writes it. SQLite uses a journal for that; a process
 * killed meanwhile leaves a file that no reader opens.
 * @param {string} file
 */
export function switchToWal(file) {
  const db = new Database(file);
  db.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
  db.close();
}

/**
 * Opens the writing connection. Its owner makes a commit durable with an fdatasync of the write-ahead log. The pragma
 * `synchronous=FULL` would use fsync, which takes a third longer: it also writes the modification time. `NORMAL` still
 * syncs the log before a checkpoint, and the database before the log is reused.
 * @param {string} file an existing store that was checked
 * @param {number | undefined} maxBytes
 * @returns {Connection}
 */
export function openWritable(file, maxBytes) {
  const db = new Database(`${pathToFileURL(file).href}?mode=rw`);
  db.exec(BUSY_TIMEOUT);
  const mode = pragma(db, "journal_mode = WAL");
  if (mode !== "wal") throw damagedStore(file, `cannot be written in WAL mode (${String(mode)})`);
  // No automatic checkpoints, so that no commit waits for one before its response.
  db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
  if (maxBytes !== undefined) {
    const pages = Math.floor(maxBytes / Number(pragma(db, "page_size")));
    pragma(db, `max_page_count = ${String(pages)}`);
  }
  // Creates the file of the write-ahead log.
  pragma(db, "schema_version");
  return db;
}

/** Errors that the file's content does not cause. */
const UNAVAILABLE = /^SQLITE_(CANTOPEN|BUSY|LOCKED|NOMEM|PERM|AUTH|READONLY|IOERR_SHM)/;
/** A full disk: readers need space for the index of the write-ahead log. */
const NO_ROOM = /^SQLITE_(FULL|IOERR_SHMSIZE)/;

/** @param {unknown} error */
export function isUnavailable(error) {
  return UNAVAILABLE.test(sqliteCode(error) ?? "");
}

/**
 * Translates SQLite's errors during a read into StoreFaults.
 * @template T
 * @param {string} file
 * @param {() => T} read
 * @returns {T}
 */
export function reading(file, read) {
  try {
    return read();
  } catch (error) {
    const code = sqliteCode(error);
    if (code === undefined) throw error;
    const what = `cannot be read: ${messageOf(error)}`;
    if (NO_ROOM.test(code))
      throw new StoreFault("NoSpace", `${file}: ${what}, for want of space on the disk`, error);
    throw isUnavailable(error)
      ? new StoreFault("Unavailable", `${file}: ${what}`, error)
      : damagedStore(file, what);
  }
}
