// @ts-check
/**
 * Reads the write-ahead log before a checkpoint does. libsql continues a checkpoint when a page of the log is
 * unreadable, which tears the database. Found here, nothing was copied yet, and the next start recovers everything from
 * the log.
 */
import { readSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Offset of the salt in the log's header; each frame in use repeats it at FRAME_SALT_AT. */
const SALT_AT = 16;
const FRAME_SALT_AT = 8;
const SALT_BYTES = 8;
/** Reads about a megabyte at a time. */
const FRAMES_PER_READ = 64;

export class LogGuard {
  #fd;
  #frameBytes;
  #part;
  #salt = Buffer.alloc(SALT_BYTES);
  /** Frames that were read since the log started from its beginning. */
  #frames = 0;

  /**
   * @param {number} fd of the log
   * @param {number} pageBytes
   */
  constructor(fd, pageBytes) {
    this.#fd = fd;
    this.#frameBytes = FRAME_HEADER_BYTES + pageBytes;
    this.#part = Buffer.allocUnsafe(this.#frameBytes * FRAMES_PER_READ);
  }

  /**
   * Reads all frames in use that it has not read yet. Throws the system's error when a read fails.
   * @returns {number} how many are in use
   */
  read() {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(this.#fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return 0;
    const salt = header.subarray(SALT_AT, SALT_AT + SALT_BYTES);
    if (!salt.equals(this.#salt)) {
      this.#salt = salt;
      this.#frames = 0;
    }
    for (let read = FRAMES_PER_READ; read === FRAMES_PER_READ; this.#frames += read) read = this.#readPart();
    return this.#frames;
  }

  /** Returns how many frames of the next part are in use. */
  #readPart() {
    const position = HEADER_BYTES + this.#frames * this.#frameBytes;
    const read = readSync(this.#fd, this.#part, 0, this.#part.length, position);
    for (let at = 0; at < FRAMES_PER_READ; at++) {
      const start = at * this.#frameBytes;
      const isWhole = start + this.#frameBytes <= read;
      const saltStart = start + FRAME_SALT_AT;
      const isUsed = isWhole && this.#part.subarray(saltStart, saltStart + SALT_BYTES).equals(this.#salt);
      if (!isUsed) return at;
    }
    return FRAMES_PER_READ;
  }
}
