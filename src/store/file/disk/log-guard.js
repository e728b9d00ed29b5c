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

/**
 * Reads all frames in use. Throws the system's error when a read fails.
 * @param {number} fd of the log
 * @param {number} pageBytes
 * @returns {number} how many there are
 */
export function readLog(fd, pageBytes) {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return 0;
  const salt = header.subarray(SALT_AT, SALT_AT + SALT_BYTES);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const part = Buffer.allocUnsafe(frameBytes * FRAMES_PER_READ);
  for (let frames = 0; ; frames += FRAMES_PER_READ) {
    const read = readSync(fd, part, 0, part.length, HEADER_BYTES + frames * frameBytes);
    for (let at = 0; at < FRAMES_PER_READ; at++) {
      const start = at * frameBytes;
      const isWhole = start + frameBytes <= read;
      const saltStart = start + FRAME_SALT_AT;
      const isUsed = isWhole && part.subarray(saltStart, saltStart + SALT_BYTES).equals(salt);
      if (!isUsed) return frames + at;
    }
  }
}
