// @ts-check
/** What goes wrong in the worker, in the words of StoreError; the main thread makes one of it. */

/** @typedef {import("../../store-error.ts").StoreErrorCode} StoreErrorCode */

export class StoreFault extends Error {
  /** @type {StoreErrorCode} */
  code;

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
export function damaged(file, what) {
  return new StoreFault(
    "Damaged",
    `${file}: ${what}. Nothing was changed. Restore from a backup with "setpoint up --restore FILE" into an empty data ` +
      "directory, or move the directory away to start with an empty store",
  );
}

/**
 * SQLite's name for an error, such as SQLITE_FULL; undefined for other errors.
 * @param {unknown} error
 */
export function sqliteCode(error) {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_")
    ? String(error.code)
    : undefined;
}

/**
 * The operating system's name for an error, such as ENOENT.
 * @param {unknown} error
 */
export function systemCode(error) {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
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
 * What a failed write means. Only a full disk leaves a known state: SQLite rolled back before anything was acknowledged.
 * @param {string} file
 * @param {unknown} error
 */
export function commitFault(file, error) {
  if (error instanceof StoreFault) return error;
  if (sqliteCode(error) !== "SQLITE_FULL") return brokenDisk(file, error);
  return new StoreFault("NoSpace", `${file}: no space left to write: ${messageOf(error)}`, error);
}

/**
 * After a failed sync the kernel may have dropped the pages and report success the next time: never retried.
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
