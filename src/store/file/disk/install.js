// @ts-check
/**
 * Creates a store in a directory, safe against a crash at every step:
 *
 *   1. store.db.new, in the mode in which it will be written,   crash: they are left over, and removed by the next try
 *      and marker.new are written and synced
 *   2. store.db.new becomes store.db                            crash: `finishInstall` does step 3
 *   3. marker.new becomes marker                                the store exists from here on
 *
 * A database without either marker is a store that lost a file: it is refused.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createDatabase, switchToWal, writeMeta } from "./database.js";
import { damagedStore } from "./fault.js";
import { FIRST_REVISION } from "./history-check.js";
import { createMarker, readMark } from "./marker.js";

/** @param {string} dir */
export function storePaths(dir) {
  return { db: join(dir, "store.db"), wal: join(dir, "store.db-wal"), marker: join(dir, "marker") };
}

/** @param {string} path a file or a directory */
export function syncPath(path) {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Creates the directory so that it survives a power loss.
 * @param {string} dir
 */
export function makeDirectory(dir) {
  const first = mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (first !== undefined) syncPath(dirname(first));
}

/**
 * Whether the directory holds a store. Throws StoreFault `Damaged` when parts of one are missing.
 * @param {string} dir
 */
export function findStore(dir) {
  const { db, wal, marker } = storePaths(dir);
  const hasDb = existsSync(db);
  if (existsSync(marker)) {
    if (!hasDb) throw damagedStore(db, "is missing, but its marker says that there is a store");
    return true;
  }
  if (hasDb) {
    finishInstall(dir);
    return true;
  }
  if (existsSync(wal)) throw damagedStore(db, "is missing, but its write-ahead log is there");
  return false;
}

/** @param {string} dir */
function finishInstall(dir) {
  const { db, marker } = storePaths(dir);
  if (!existsSync(`${marker}.new`)) throw damagedStore(marker, "is missing, but there is a database");
  if (readMark(`${marker}.new`) === undefined) throw damagedStore(db, "has no marker");
  renameSync(`${marker}.new`, marker);
  syncPath(dir);
}

/**
 * @param {string} dir
 * @param {string} clusterId
 */
export function createStore(dir, clusterId) {
  const file = prepareInstall(dir);
  const db = createDatabase(file);
  writeMeta(db, { clusterId, compacted: 0, floor: 0, head: FIRST_REVISION, liveCount: 0, liveSum: 0 });
  db.close();
  install(dir, { clusterId, revision: FIRST_REVISION });
}

/**
 * Removes leftovers; returns the path at which the caller writes the database before `install`.
 * @param {string} dir
 */
export function prepareInstall(dir) {
  const { db, marker } = storePaths(dir);
  for (const path of [`${db}.new`, `${db}.new-journal`, `${db}.new-wal`, `${db}.new-shm`, `${marker}.new`]) {
    rmSync(path, { force: true });
  }
  return `${db}.new`;
}

/**
 * @param {string} dir
 * @param {{ clusterId: string, revision: number }} mark
 */
export function install(dir, mark) {
  const { db, marker } = storePaths(dir);
  createMarker(`${marker}.new`, mark);
  switchToWal(`${db}.new`);
  // These files are empty.
  for (const suffix of ["-wal", "-shm"]) rmSync(`${db}.new${suffix}`, { force: true });
  // SQLite gives the same mode to the files beside it.
  chmodSync(`${db}.new`, 0o600);
  syncPath(`${db}.new`);
  syncPath(dir);
  renameSync(`${db}.new`, db);
  syncPath(dir);
  renameSync(`${marker}.new`, marker);
  syncPath(dir);
}
