// @ts-check
/**
 * The writable database, and its state after a failed write: after a full disk it is reopened and compared before the
 * next write; after any other failure all writes are refused.
 */
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { FileCompactor } from "./compaction.js";
import { openWritable, PAGE_BYTES, pragma } from "./database.js";
import { brokenDisk, commitFault, messageOf, sqliteCode, StoreFault } from "./fault.js";
import { LogGuard } from "./log-guard.js";
import { LogReader } from "./log-reader.js";
import { LogWriter } from "./log-writer.js";
import { PieceReader } from "./piece-reader.js";
import { revisionOf } from "./record.js";

/** @typedef {import("./database.js").Connection} Connection */
/** @typedef {import("./log-index.js").LogIndex} LogIndex */

/**
 * @typedef {object} OpenConnection
 * @property {"open"} state
 * @property {Connection} db
 * @property {LogWriter} log
 * @property {LogReader} reader
 * @property {FileCompactor} compactor
 * @property {PieceReader} pieces
 * @property {LogGuard} guard
 * @property {number} walFd to sync the write-ahead log with
 */

/** @typedef {OpenConnection | { state: "suspect" } | { state: "broken", fault: StoreFault }} ConnectionState */

/**
 * @typedef {object} WritableOptions
 * @property {{ db: string, wal: string }} paths
 * @property {number | undefined} maxBytes
 * @property {LogIndex} index of what the log holds
 * @property {(revision: number) => boolean} isExpected whether the newest row may be of this revision after a failed write
 */

/** Upper bound of the wait for another connection's checkpoint, in milliseconds. */
const CHECKPOINT_WAIT_MS = 5000;

export class WritableDatabase {
  #options;
  /** @type {ConnectionState} */
  #connection;

  /** @param {WritableOptions} options */
  constructor(options) {
    this.#options = options;
    this.#connection = connect(options);
  }

  /**
   * Runs a transaction, which is durable only after `sync`. When it throws StoreFault `NoSpace`, nothing was written.
   * @template T
   * @param {(connection: OpenConnection) => T} transaction
   * @returns {T}
   */
  write(transaction) {
    const connection = this.ready();
    try {
      return transaction(connection);
    } catch (error) {
      const fault = commitFault(this.#options.paths.db, error);
      if (fault.code !== "NoSpace") throw this.fail(fault);
      if (connection.db.inTransaction) connection.db.exec("ROLLBACK");
      disconnect(connection);
      this.#connection = { state: "suspect" };
      throw fault;
    }
  }

  /** Makes all writes durable. */
  sync() {
    try {
      fdatasyncSync(this.ready().walFd);
    } catch (error) {
      throw this.fail(error instanceof StoreFault ? error : brokenDisk(this.#options.paths.wal, error));
    }
  }

  get isOpen() {
    return this.#connection.state === "open";
  }

  /** Throws if the write-ahead log cannot be read; then nothing of it may be copied. */
  checkLog() {
    if (this.#connection.state !== "open") return;
    try {
      this.#connection.guard.read();
    } catch (error) {
      throw this.fail(brokenDisk(this.#options.paths.wal, error));
    }
  }

  /**
   * Copies the write-ahead log into the database as far as readers allow; the log then starts from its beginning.
   * Waits for the checkpoint of another connection.
   * @param {"PASSIVE" | "TRUNCATE"} mode
   */
  checkpoint(mode) {
    if (this.#connection.state !== "open") return;
    this.checkLog();
    try {
      const { db } = this.#connection;
      // A passive checkpoint is only refused while another one runs.
      for (let waited = 0; waited < CHECKPOINT_WAIT_MS; waited += 1) {
        const isRefused = pragma(db, `wal_checkpoint(${mode})`) === 1;
        if (!isRefused || mode === "TRUNCATE") return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    } catch (error) {
      // On a full disk all data is still in the log.
      if (sqliteCode(error) === "SQLITE_FULL") return;
      throw this.fail(brokenDisk(this.#options.paths.db, error));
    }
  }

  /** The connection ends with the thread, because libsql keeps it while prepared statements exist. */
  close() {
    if (this.#connection.state !== "open") return;
    // Does not wait for readers such as a backup: pages that they hold stay in the log.
    this.#connection.db.exec("PRAGMA busy_timeout = 0");
    this.checkpoint("TRUNCATE");
    disconnect(this.#connection);
    this.#connection = { state: "broken", fault: new StoreFault("Closed", "the store is closed") };
  }

  /** @returns {OpenConnection} */
  ready() {
    if (this.#connection.state === "open") return this.#connection;
    if (this.#connection.state === "broken") throw this.#connection.fault;
    try {
      const connection = connect(this.#options);
      this.#compare(connection);
      this.#connection = connection;
      return connection;
    } catch (error) {
      if (error instanceof StoreFault) throw this.fail(error);
      // Opening writes no data. A full disk may leave no space for SQLite's shared memory file.
      const { db } = this.#options.paths;
      throw new StoreFault("NoSpace", `${db}: cannot be opened again yet: ${messageOf(error)}`, error);
    }
  }

  /**
   * Refuses all later requests with this fault.
   * @param {StoreFault} fault
   */
  fail(fault) {
    this.#connection = { state: "broken", fault };
    return fault;
  }

  /** @param {OpenConnection} connection */
  #compare({ db, reader }) {
    const newestLive = () => Number(db.prepare("SELECT max(id) FROM live").raw().all().flat()[0] ?? 0);
    const revision = reader.newestRevision() ?? revisionOf(newestLive());
    if (this.#options.isExpected(revision)) return;
    throw new StoreFault(
      "OutcomeUnknown",
      `${this.#options.paths.db}: after a failed write revision ${String(revision)} is the newest on disk, which is not the ` +
        "last that was acknowledged; the process must end",
    );
  }
}

/**
 * @param {WritableOptions} options
 * @returns {OpenConnection}
 */
function connect({ paths, maxBytes, index }) {
  const db = openWritable(paths.db, maxBytes);
  const reader = new LogReader(db, paths.db);
  const walFd = openSync(paths.wal, "r+");
  return {
    state: "open",
    db,
    log: new LogWriter(db),
    reader,
    compactor: new FileCompactor(db, index, reader),
    pieces: new PieceReader(db, paths.db, reader),
    guard: new LogGuard(walFd, PAGE_BYTES),
    walFd,
  };
}

/** @param {OpenConnection} connection */
function disconnect({ db, walFd }) {
  closeSync(walFd);
  db.close();
}
