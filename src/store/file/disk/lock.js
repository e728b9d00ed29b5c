import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// @ts-check
/**
 * Allows one process per data directory. The lock is SQLite's own on an empty file: the operating system releases it
 * however the process ends, and a reused pid has no effect. The file `pid` only names the holder.
 */
import Database from "libsql";
import { damagedStore, messageOf, sqliteCode, StoreFault, systemCode } from "./fault.js";

const FILE_MODE = 0o600;

/**
 * Throws StoreFault `Locked` when another process, or another store in this one, holds the lock.
 * @param {string} dir
 * @returns {{ release(): void }}
 */
export function lockDirectory(dir) {
  const file = join(dir, "lock");
  let db;
  try {
    db = new Database(file);
    // Without this a killed process would leave an empty journal.
    db.exec("PRAGMA journal_mode = MEMORY");
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if (sqliteCode(error) === "SQLITE_BUSY")
      throw new StoreFault("Locked", `${dir} is in use by ${holder(dir)}`);
    if (sqliteCode(error) === "SQLITE_NOTADB") throw damagedStore(file, "is not a lock file of setpoint");
    throw new StoreFault("Unavailable", `${file}: cannot be locked: ${messageOf(error)}`, error);
  }
  chmodSync(file, FILE_MODE);
  writeFileSync(join(dir, "pid"), `${String(process.pid)}\n`, { mode: FILE_MODE });
  const held = db;
  return {
    release() {
      held.exec("ROLLBACK");
      held.close();
    },
  };
}

/** @param {string} dir */
function holder(dir) {
  const pid = readPid(dir);
  return pid === process.pid
    ? `this process (${String(pid)}) already`
    : `process ${String(pid ?? "unknown")}`;
}

/** @param {string} dir */
function readPid(dir) {
  try {
    return parseInt(readFileSync(join(dir, "pid"), "utf8"), 10);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
