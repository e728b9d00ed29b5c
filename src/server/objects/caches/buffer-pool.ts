/**
 * Room for bytes that are handed on and soon gone: a part of a buffer that many share, which costs a small part of one of its own. Not for what is
 * kept: it would keep in memory what happened to be made beside it.
 */

const SHARED_BYTES = 32 * 1024;
/** Of longer ones few would share a buffer. */
const PART_BYTES_MAX = 8 * 1024;

let shared = Buffer.alloc(0);
let used = 0;

/** With any content. */
export function briefBuffer(bytes: number): Buffer {
  if (bytes > PART_BYTES_MAX) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > shared.length) {
    shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
    used = 0;
  }
  const part = shared.subarray(used, used + bytes);
  used += bytes;
  return part;
}
