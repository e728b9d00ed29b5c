// @ts-check
/**
 * A backup is one complete file in the format of store.db. It is written under a temporary name, read back with all
 * checks of a store, synced, and only then renamed: a file with the final name is a good backup.
 */
import { copyFileSync, existsSync, linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createDatabase, openReadOnly, pragma, reading, writeMeta } from "./database.js";
import { commitFault, damagedStore, asBackupFault, sqliteCode, StoreFault, systemCode } from "./fault.js";
import { install, makeDirectory, prepareInstall, storePaths, syncPath } from "./install.js";
import { LiveWriter } from "./live-writer.js";
import { loadStore } from "./load.js";
import { lockDirectory } from "./lock.js";
import { readMark } from "./marker.js";
import { addToLiveSum, recordEnd, ROWS_PER_REVISION, seal } from "./record.js";

/** @typedef {import("../thread-protocol.ts").BackupHead} BackupHead */

/**
 * Copies the store as of one moment, even while another process writes to it.
 * @param {string} dir
 * @param {string} file
 */
export function copyStore(dir, file) {
  const { db: source, marker } = storePaths(dir);
  const partial = partialOf(file);
  const mark = existsSync(source) ? readMark(marker) : undefined;
  if (mark === undefined)
    throw new StoreFault("Unavailable", `${dir}: there is no store, so there is nothing to back up`);
  return keepingOnlyComplete(partial, () => {
    reading(source, () => {
      const db = openReadOnly(source);
      // Read errors of the store show here; a full disk after this concerns the copy.
      pragma(db, "schema_version");
      writingTo(file, () => {
        db.exec(`VACUUM INTO '${partial.replaceAll("'", "''")}'`);
      });
      db.close();
    });
    const head = checkedHead(partial);
    if (head.clusterId !== mark.clusterId || head.revision < mark.revision) {
      throw damagedStore(
        source,
        `ends at revision ${String(head.revision)}, but ${String(mark.revision)} was acknowledged`,
      );
    }
    publish(partial, file);
    return head;
  });
}

/**
 * Reports a full disk under the file name that the user gave.
 * @param {string} file
 * @param {() => void} work
 */
function writingTo(file, work) {
  try {
    work();
  } catch (error) {
    throw sqliteCode(error) === "SQLITE_FULL" ? commitFault(file, error) : error;
  }
}

/**
 * Creates a store from a backup, in a directory without one.
 * @param {string} file
 * @param {string} dir
 */
export function restoreStore(file, dir) {
  makeDirectory(dir);
  const lock = lockDirectory(dir);
  try {
    const found = Object.values(storePaths(dir)).find((path) => existsSync(path));
    if (found !== undefined) {
      throw new StoreFault(
        "Unavailable",
        `${dir} already holds a store (${found}): restore into an empty directory`,
      );
    }
    const copy = prepareInstall(dir);
    return keepingOnlyComplete(copy, () => {
      copyFileSync(file, copy);
      const head = asBackupFault(file, () => checkedHead(copy));
      install(dir, head);
      return head;
    });
  } finally {
    lock.release();
  }
}

/** Writes a backup from entries of another engine. */
export class BackupWriter {
  #file;
  #partial;
  #head;
  #db;
  #live;
  /** @type {Set<number>} */
  #ids = new Set();
  #liveSum = 0;

  /** @param {BackupHead & { file: string }} request */
  constructor({ file, clusterId, revision }) {
    this.#file = file;
    this.#partial = partialOf(file);
    this.#head = { clusterId, revision };
    this.#db = createDatabase(this.#partial);
    this.#live = new LiveWriter(this.#db);
  }

  /** @param {Buffer} records */
  add(records) {
    /** @type {Buffer[]} */
    const added = [];
    for (let start = 0; start < records.length;) {
      const end = recordEnd(records, start);
      const id = this.#freeId(records.readDoubleLE(start));
      records.writeDoubleLE(id, start);
      seal({ buffer: records, start, end });
      this.#ids.add(id);
      this.#liveSum = addToLiveSum(this.#liveSum, id);
      added.push(records.subarray(start, end));
      start = end;
    }
    this.#write(() => {
      this.#db.exec("BEGIN");
      this.#live.add(added);
      this.#db.exec("COMMIT");
    });
  }

  finish() {
    const { clusterId, revision } = this.#head;
    const liveCount = this.#ids.size;
    const liveSum = this.#liveSum;
    this.#write(() => {
      writeMeta(this.#db, {
        clusterId,
        compacted: revision,
        floor: revision,
        head: revision,
        liveCount,
        liveSum,
      });
    });
    this.#db.close();
    keepingOnlyComplete(this.#partial, () => {
      checkedHead(this.#partial);
      publish(this.#partial, this.#file);
    });
  }

  /** @param {() => void} work */
  #write(work) {
    keepingOnlyComplete(this.#partial, () => writingTo(this.#file, work));
  }

  /**
   * A list from etcd does not give the index of a key in its transaction, so any free one serves.
   * @param {number} wanted
   */
  #freeId(wanted) {
    const first = wanted - (wanted % ROWS_PER_REVISION);
    for (let step = 0; step < ROWS_PER_REVISION; step += 1) {
      const id = first + ((wanted + step) % ROWS_PER_REVISION);
      if (!this.#ids.has(id)) return id;
    }
    throw new StoreFault("InvalidTransaction", `more than ${String(ROWS_PER_REVISION)} keys at one revision`);
  }
}

/**
 * Temporary name of a backup that does not exist yet.
 * @param {string} file
 */
function partialOf(file) {
  refuseExisting(file);
  const partial = `${resolve(file)}.partial`;
  for (const path of [partial, `${partial}-journal`]) rmSync(path, { force: true });
  // Creates the file first, so that its mode keeps other users from reading it while it is written: it contains
  // secrets.
  try {
    writeFileSync(partial, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    // The user does not know the temporary name, so the error shows the final one.
    throw error instanceof Error ? Object.assign(error, { path: file }) : error;
  }
  return partial;
}

/**
 * Gives the backup its final name.
 * @param {string} partial
 * @param {string} file
 */
function publish(partial, file) {
  syncPath(partial);
  try {
    // A link, unlike a rename, does not replace a file that was created meanwhile.
    linkSync(partial, file);
    rmSync(partial);
  } catch (error) {
    if (systemCode(error) === "EEXIST") refuseExisting(file);
    renameSync(partial, file);
  }
  syncPath(dirname(resolve(file)));
}

/**
 * @template T
 * @param {string} partial removed when `work` fails
 * @param {() => T} work
 * @returns {T}
 */
function keepingOnlyComplete(partial, work) {
  try {
    return work();
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** @param {string} file */
function refuseExisting(file) {
  if (existsSync(file))
    throw new StoreFault("Unavailable", `${file} exists already: choose another name for the backup`);
}

/** @param {string} file */
function checkedHead(file) {
  const { meta, head } = loadStore(file, () => undefined);
  return { clusterId: meta.clusterId, compactedRevision: meta.floor, revision: head.revision };
}
