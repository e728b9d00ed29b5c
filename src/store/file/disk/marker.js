// @ts-check
/**
 * The marker file beside the database: records that a store exists, its id, and a durable revision.
 * SQLite silently drops what follows a damaged frame of its log and takes a missing file for an empty database; the
 * marker reveals both. Two slots are written in turn, each in its own disk block, so that a torn write leaves the other.
 *
 *   setpoint-store 1 5f0c…-…-… revision 0000000000001234 write 0000000000000042 crc 1a2b3c4d
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { damagedStore, StoreFault, systemCode } from "./fault.js";

const MARKER_FORMAT = 1;
const SLOT_BYTES = 4096;
const DIGITS = 16;
const HEX_DIGITS = "0123456789abcdef";
/** Columns of the line; format and cluster id have fixed widths. */
const REVISION_AT = "setpoint-store 1 ".length + 36 + " revision ".length;
const WRITE_AT = REVISION_AT + DIGITS + " write ".length;
const CRC_DIGITS = 8;
const CRC_AT = WRITE_AT + DIGITS + " crc ".length;
const LINE = /^(setpoint-store (\d+) ([0-9a-f-]{36}) revision (\d{16}) write (\d{16}) crc )([0-9a-f]{8})/;

/**
 * @typedef {object} Mark
 * @property {string} clusterId
 * @property {number} revision
 * @property {number} write counts the writes; the slot with the higher one is newer
 */

/** @param {Mark} mark */
function line({ clusterId, revision, write }) {
  const text =
    `setpoint-store ${String(MARKER_FORMAT)} ${clusterId} revision ${String(revision).padStart(DIGITS, "0")} ` +
    `write ${String(write).padStart(DIGITS, "0")} crc `;
  return text + crc32(text).toString(16).padStart(CRC_DIGITS, "0");
}

/**
 * Checks only the line, not the padding behind it.
 * @param {string} file
 * @param {string} slot
 * @returns {Mark | undefined}
 */
function parse(file, slot) {
  const [, text, format, clusterId, revision, write, crc] = LINE.exec(slot) ?? [];
  if (text === undefined || clusterId === undefined || crc === undefined) return undefined;
  if (crc32(text) !== parseInt(crc, 16)) return undefined;
  if (Number(format) !== MARKER_FORMAT) {
    throw new StoreFault(
      "Damaged",
      `${file}: has format ${String(format)}, written by a newer setpoint; use that one`,
    );
  }
  return { clusterId, revision: Number(revision), write: Number(write) };
}

/**
 * Returns the newer of the two slots; undefined for a missing file.
 * @param {string} file
 * @returns {Mark | undefined}
 */
export function readMark(file) {
  let text;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const marks = [0, 1].map((slot) => parse(file, text.slice(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)));
  const [newest] = marks.filter((mark) => mark !== undefined).sort((a, b) => b.write - a.write);
  if (newest === undefined) throw damagedStore(file, "both slots of the marker are unreadable");
  return newest;
}

/**
 * Writes the whole file and syncs it (the caller syncs the directory entry).
 * @param {string} file
 * @param {Omit<Mark, "write">} mark
 */
export function createMarker(file, mark) {
  const fd = openSync(file, "w", 0o600);
  try {
    for (const write of [0, 1]) {
      writeSync(fd, `${line({ ...mark, write }).padEnd(SLOT_BYTES - 1)}\n`, write * SLOT_BYTES, "latin1");
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The marker of an open store. */
export class Marker {
  #fd;
  #write;
  /** Revision in the marker. */
  revision;
  /**
   * Reused line whose numbers are overwritten, which is cheaper than a new one per commit; and the part that its
   * checksum covers.
   */
  #line;
  #checked;
  #isSynced = true;

  /**
   * @param {string} file
   * @param {Mark} mark the newest in it; the next write goes to the other slot, which may be unreadable
   */
  constructor(file, mark) {
    this.#fd = openSync(file, "r+");
    this.#write = mark.write;
    this.revision = mark.revision;
    this.#line = Buffer.from(line(mark), "latin1");
    this.#checked = this.#line.subarray(0, CRC_AT);
  }

  /**
   * Writes without a sync. The mark survives a crash of the process; a power loss may leave an older one, which is also
   * true.
   * @param {number} revision
   */
  advance(revision) {
    if (revision === this.revision) return;
    const write = this.#write + 1;
    putNumber(this.#line, revision, { at: REVISION_AT, digits: DIGITS, base: 10 });
    putNumber(this.#line, write, { at: WRITE_AT, digits: DIGITS, base: 10 });
    putNumber(this.#line, crc32(this.#checked), { at: CRC_AT, digits: CRC_DIGITS, base: 16 });
    try {
      writeSync(this.#fd, this.#line, 0, this.#line.length, (write % 2) * SLOT_BYTES);
    } catch (error) {
      // Ignored: the older mark stays true, and the next commit tries again.
      if (systemCode(error) === "ENOSPC") return;
      throw error;
    }
    this.#write = write;
    this.revision = revision;
    this.#isSynced = false;
  }

  sync() {
    if (this.#isSynced) return;
    fdatasyncSync(this.#fd);
    this.#isSynced = true;
  }

  close() {
    this.sync();
    closeSync(this.#fd);
  }
}

/**
 * Writes digits with leading zeros, without creating a string.
 * @param {Buffer} text
 * @param {number} number
 * @param {{ at: number, digits: number, base: number }} place
 */
function putNumber(text, number, { at, digits, base }) {
  let rest = number;
  for (let position = at + digits - 1; position >= at; position -= 1) {
    const digit = rest % base;
    text[position] = HEX_DIGITS.charCodeAt(digit);
    rest = (rest - digit) / base;
  }
}
