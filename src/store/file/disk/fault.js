// @ts-check
/** Errors of the worker, with the codes of StoreError; the main thread turns them into StoreErrors. */
import { accessSync, constants } from "node:fs";

/** @typedef {import("../../store-error.ts").StoreErrorCode} StoreErrorCode */

export class StoreFault extends Error {
  /** @type {StoreErrorCode} */
  code;
  /**
   * Finding about a damaged file, without the remedy.
   * @type {string | undefined}
   */
  found;

  /**
   * @param {StoreErrorCode} code
   * @param {string} message
   * @param {unknown} [cause]
   */
  constructor(code, message, cause) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * @param {string} file
 * @param {string} what
 */
export function damagedStore(file, what) {
  const fault = new StoreFault(
    "Damaged",
    `${file}: ${what}. Nothing was changed. Restore from a backup with "setpoint up --restore FILE" into an empty data ` +
      "directory, or move the directory away to start with an empty store",
  );
  fault.found = what;
  return fault;
}

/**
 * Reads a backup; errors name the file that the user gave.
 * @template T
 * @param {string} file
 * @param {() => T} read
 * @returns {T}
 */
export function asBackupFault(file, read) {
  // SQLite's error for a file that it cannot open gives no reason, not even that it is missing.
  accessSync(file, constants.R_OK);
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StoreFault) || error.found === undefined) throw error;
    throw new StoreFault(
      "Damaged",
      `${file} is no backup that can be restored: ${error.found}. Nothing was changed: choose another one`,
      error,
    );
  }
}

/**
 * SQLite's error code, such as SQLITE_FULL; undefined for other errors.
 * @param {unknown} error
 */
export function sqliteCode(error) {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_")
    ? String(error.code)
    : undefined;
}

/**
 * The operating system's error code, such as ENOENT.
 * @param {unknown} error
 */
export function systemCode(error) {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * @param {unknown} error
 * @returns {import("../thread-protocol.ts").SystemError | undefined} undefined for what the operating system has not said, or not of a path
 */
export function systemErrorOf(error) {
  const { code, syscall, path } = /** @type {NodeJS.ErrnoException} */ (error instanceof Error ? error : {});
  return code === undefined || syscall === undefined || path === undefined
    ? undefined
    : { code, syscall, path };
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {unknown} error
 * @returns {StoreErrorCode | undefined} undefined for what only a bug brings about
 */
export function faultCode(error) {
  if (error instanceof StoreFault) return error.code;
  return sqliteCode(error) === "SQLITE_FULL" || systemCode(error) === "ENOSPC" ? "NoSpace" : undefined;
}

/**
 * Translates a failed write. Only a full disk leaves a known state: SQLite rolled back before anything was
 * acknowledged.
 * @param {string} file
 * @param {unknown} error
 */
export function commitFault(file, error) {
  if (error instanceof StoreFault) return error;
  if (sqliteCode(error) !== "SQLITE_FULL") return brokenDisk(file, error);
  return new StoreFault("NoSpace", `${file}: no space left to write: ${messageOf(error)}`, error);
}

/**
 * Error of a failed sync, which is never retried: the kernel may have dropped the pages and report success the next
 * time.
 * @param {string} file
 * @param {unknown} error
 */
export function brokenDisk(file, error) {
  return new StoreFault(
    "OutcomeUnknown",
    `${file}: the disk failed a write or sync (${messageOf(error)}), so what is on it is not known; the process must end`,
    error,
  );
}
