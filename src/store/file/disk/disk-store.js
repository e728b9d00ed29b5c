// @ts-check
/** An open store on disk: the worker thread's side of the file backend. */
import { Checkpointer } from "./checkpointer.js";
import { PAGE_BYTES, reading } from "./database.js";
import { brokenDisk, damagedStore, StoreFault } from "./fault.js";
import { createStore, findStore, makeDirectory, storePaths } from "./install.js";
import { loadStore } from "./load.js";
import { lockDirectory } from "./lock.js";
import { Marker, readMark } from "./marker.js";
import { readRecordHead, readFields, revisionOf, viewOf } from "./record.js";
import { WritableDatabase } from "./writable.js";

/** @typedef {import("./database.js").Meta} Meta */
/** @typedef {import("./history-check.js").Head} Head */
/** @typedef {import("../thread-protocol.ts").OpenRequest} OpenRequest */

/** Interval of the marker's syncs: upper bound of its age after a power loss. */
const MARKER_SYNC_MS = 1000;

export class DiskStore {
  #paths;
  #lock;
  #marker;
  #database;
  #checkpointer;
  /** @type {Meta} */
  #meta;
  /** @type {Head} */
  #head;
  /** Index of the log, without the records in `#unlisted`. */
  #index;
  /** @type {Buffer[]} */
  #unlisted = [];
  #markerSyncedAt = 0;

  /**
   * Takes the lock, creates the store if missing, and checks all of it.
   * @param {OpenRequest} request
   * @param {(slab: Buffer) => void} emit gets all rows in order of id
   */
  constructor({ dir, newClusterId, maxBytes }, emit) {
    const paths = storePaths(dir);
    makeDirectory(dir);
    this.#paths = paths;
    this.#lock = lockDirectory(dir);
    try {
      if (!findStore(dir)) createStore(dir, newClusterId);
      const { mark, meta, head, index } = check(paths, emit);
      this.#meta = meta;
      this.#head = head;
      this.#index = index;
      const isExpected = this.#isNewest.bind(this);
      this.#database = new WritableDatabase({ paths, maxBytes, index, isExpected });
      this.#checkpointer = new Checkpointer({ paths, database: this.#database, maxBytes });
      this.#marker = new Marker(paths.marker, mark);
      this.#adopt(mark.revision);
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  get opened() {
    const { clusterId, floor } = this.#meta;
    return { clusterId, compactedRevision: floor, revision: this.#head.revision };
  }

  /**
   * The commit is durable when this returns; `tidy` updates the marker.
   * @param {Buffer} records
   */
  commit(records) {
    const head = nextHead(this.#head, records);
    this.#database.write(({ log }) => {
      log.append(records);
    });
    this.#database.sync();
    this.#head = head;
    this.#unlisted.push(records);
    this.#checkpointer.note(logBytes(records.length));
  }

  /**
   * Drops a bounded piece of history on the way to `revision`; returns the revision that it reached.
   * @param {number} revision
   */
  compact(revision) {
    const target = Math.min(revision, this.#head.revision);
    if (target <= this.#meta.compacted) return revision;
    this.#list();
    const request = { meta: this.#meta, head: this.#head, target };
    const { meta, bytes } = this.#database.write(({ compactor }) => compactor.piece(request));
    this.#index.drop(meta.compacted);
    this.#meta = meta;
    this.#checkpointer.note(bytes);
    return meta.compacted >= target ? revision : meta.compacted;
  }

  /**
   * @param {number} after
   * @param {number} upTo
   */
  read(after, upTo) {
    const { db: file } = this.#paths;
    const { pieces } = this.#database.ready();
    return reading(file, () => pieces.read({ after, upTo, meta: this.#meta }));
  }

  /**
   * Does the work that need not delay the response to a commit. A failure shows in the next response.
   * @param {number} elapsedMs
   */
  tidy(elapsedMs) {
    this.#unlessBroken(() => {
      this.#mark();
      this.#list();
      this.#checkpointer.advance();
      if (elapsedMs - this.#markerSyncedAt < MARKER_SYNC_MS) return;
      this.#marker.sync();
      this.#markerSyncedAt = elapsedMs;
    });
  }

  /** Resolves when no work goes on beside the requests. */
  idle() {
    return this.#checkpointer.idle();
  }

  async close() {
    await this.#checkpointer.end();
    try {
      this.#database.close();
      this.#marker.close();
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Syncs the data of an earlier process: a killed process may have written data without a sync, and readers see it
   * from now on.
   * @param {number} marked
   */
  #adopt(marked) {
    this.#database.sync();
    if (this.#head.revision === marked) return;
    this.#mark();
    this.#marker.sync();
  }

  #list() {
    for (const records of this.#unlisted) this.#index.add(records);
    this.#unlisted.length = 0;
  }

  #mark() {
    this.#marker.advance(this.#head.revision);
  }

  /** @param {() => void} work on the marker or the database */
  #unlessBroken(work) {
    try {
      work();
    } catch (error) {
      this.#database.fail(error instanceof StoreFault ? error : brokenDisk(this.#paths.marker, error));
    }
  }

  /**
   * The head has no rows when it is a compacted deletion.
   * @param {number} revision
   */
  #isNewest(revision) {
    return (
      revision === this.#head.revision ||
      (revision < this.#head.revision && this.#meta.head === this.#head.revision)
    );
  }
}

/**
 * @param {{ db: string, marker: string }} paths
 * @param {(slab: Buffer) => void} emit
 */
function check(paths, emit) {
  const mark = readMark(paths.marker);
  if (mark === undefined) throw damagedStore(paths.marker, "is missing");
  const { meta, head, index } = loadStore(paths.db, emit);
  if (mark.clusterId !== meta.clusterId) {
    throw damagedStore(paths.marker, "belongs to another store than the database beside it");
  }
  if (head.revision < mark.revision) {
    throw damagedStore(
      paths.db,
      `ends at revision ${String(head.revision)}, but revision ${String(mark.revision)} was acknowledged; ` +
        "the database or its write-ahead log lost its end",
    );
  }
  return { mark, meta, head, index };
}

/**
 * Estimates the bytes that a commit adds to the write-ahead log: records and the page at the right edge of the table. A
 * commit that needs new pages also writes the first page of the database, and sometimes the parent of the edge.
 * @param {number} recordBytes
 */
function logBytes(recordBytes) {
  return recordBytes + PAGE_BYTES + Math.min(recordBytes, 1.3 * PAGE_BYTES);
}

/**
 * Returns the head after these records. Throws if they do not follow the previous head: a bug, found before it reaches
 * the disk.
 * @param {Head} head
 * @param {Buffer} records
 * @returns {Head}
 */
function nextHead(head, records) {
  let { revision } = head;
  let last = 0;
  const view = viewOf(records);
  for (let start = 0; start < records.length;) {
    const { id, end } = readRecordHead(view, start);
    const next = revisionOf(id);
    if (next !== revision && next !== revision + 1)
      throw new StoreFault(
        "InvalidTransaction",
        `revision ${String(next)} cannot follow ${String(revision)}`,
      );
    revision = next;
    last = start;
    start = end;
  }
  const { liveCount, liveSum } = readFields(records, last);
  return { revision, liveCount, liveSum };
}
