// @ts-check
/**
 * Copies the write-ahead log into the database. A connection of its own copies most of it on a thread of the database
 * binding, while commits go on. The store's thread copies only the short rest, after which the log starts from its
 * beginning: SQLite lets it only when all is copied.
 */
import { statfsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import AsyncDatabase from "libsql/promise";
import { BUSY_TIMEOUT, isUnavailable } from "./database.js";
import { brokenDisk, sqliteCode } from "./fault.js";

/** @typedef {import("./writable.js").WritableDatabase} WritableDatabase */

/** Bytes of the log that trigger a copy. Small copies leave the disk free for the syncs of commits. */
const COPY_BYTES = 4 << 20;
/**
 * Size of the log that triggers a new start: bounds the log, and the time of a recovery. Commits wait for two syncs
 * then, so it is rare enough not to show in the 99th percentile of busy writers.
 */
const RESTART_BYTES = 32 << 20;
/** Share of the free space of the disk and of `maxBytes` that the log may take, but always COPY_BYTES. */
const LOG_SHARE = 1 / 8;
/** Upper bound of the rest, which commits wait for. */
const REST_BYTES = 1 << 20;
/** Above this multiple of the size for a new start commits wait for the copy, if they write faster than it is copied. */
const LIMIT = 4;
/** NORMAL syncs the log before the copy, and the database after it. */
const COPY = `${BUSY_TIMEOUT}; PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)`;

export class Checkpointer {
  #file;
  #database;
  #connection;
  #restartBytes;
  #limitBytes;
  /** Estimated bytes of the log, and how many of them are in the database. */
  #logBytes = 0;
  #copiedBytes = 0;
  /** @type {Promise<void> | undefined} */
  #copying;

  /** @param {{ paths: { db: string, wal: string }, database: WritableDatabase, maxBytes: number | undefined }} options */
  constructor({ paths: { db, wal }, database, maxBytes = Infinity }) {
    this.#file = db;
    this.#database = database;
    const { bavail, bsize } = statfsSync(db);
    const spareBytes = Math.min(bavail * bsize, maxBytes) * LOG_SHARE;
    this.#restartBytes = Math.max(COPY_BYTES, Math.min(RESTART_BYTES, spareBytes));
    this.#limitBytes = LIMIT * this.#restartBytes;
    // An earlier process may have left a log, which counts.
    this.#logBytes = Math.min(statSync(wal).size, this.#restartBytes);
    this.#connection = new AsyncDatabase(`${pathToFileURL(db).href}?mode=rw`, {});
  }

  /** @param {number} bytes that a transaction added to the log */
  note(bytes) {
    this.#logBytes += bytes;
  }

  /** Begins a copy, or lets the log start again, if it is due. Throws StoreFault when the log cannot be read or copied. */
  advance() {
    if (!this.#database.isOpen) return;
    const rest = this.#logBytes - this.#copiedBytes;
    const isDue = this.#logBytes >= this.#restartBytes;
    if (this.#logBytes >= this.#limitBytes) this.#restart();
    else if (this.#copying !== undefined) return;
    else if (isDue && rest <= REST_BYTES) this.#restart();
    else if (isDue || rest >= COPY_BYTES) this.#begin();
  }

  /** Resolves when no copy is in flight. */
  async idle() {
    await this.#copying;
  }

  async end() {
    await this.idle();
    this.#connection.close();
  }

  #begin() {
    this.#database.checkLog();
    this.#copying = this.#copy();
  }

  async #copy() {
    const upTo = this.#logBytes;
    try {
      await this.#connection.exec(COPY);
      this.#copiedBytes = Math.min(upTo, this.#logBytes);
    } catch (error) {
      // On a full disk all data is still in the log; the next copy is due when it has grown.
      if (sqliteCode(error) === "SQLITE_FULL") this.#forget();
      // Nothing was copied: the connection of the store does it.
      else if (isUnavailable(error)) this.#logBytes = this.#limitBytes;
      else this.#database.fail(brokenDisk(this.#file, error));
    }
    this.#copying = undefined;
  }

  /** Copies the rest, as far as readers allow. What they hold is copied later. */
  #restart() {
    this.#database.checkpoint("PASSIVE");
    this.#forget();
  }

  #forget() {
    this.#logBytes = 0;
    this.#copiedBytes = 0;
  }
}
