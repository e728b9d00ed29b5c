// @ts-check
/** Blocks for a file before it needs them. */
import { fdatasyncSync, fstatSync, ftruncateSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const ZEROS_BYTES = 1 << 20;

/**
 * Makes the file at least so long, with zeros that are on disk when it returns: blocks that are merely allocated would still
 * cost their first sync more. Answers false, and leaves the file as it was, when that would take more than `share` of the room
 * that is left on the disk, or cannot be written.
 * @param {{ file: string, fd: number, bytes: number, share: number }} request
 */
export function fillFile({ file, fd, bytes, share }) {
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bytes > bavail * bsize * share) return false;
  const { size } = fstatSync(fd);
  const zeros = Buffer.alloc(ZEROS_BYTES);
  try {
    for (let at = size; at < bytes; at += zeros.length) writeSync(fd, zeros, 0, zeros.length, at);
  } catch {
    ftruncateSync(fd, size);
    return false;
  }
  fdatasyncSync(fd);
  return true;
}
