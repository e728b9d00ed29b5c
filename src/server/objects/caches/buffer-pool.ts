/**
 * Allocates short-lived buffers as slices of a shared buffer, which is far cheaper than a buffer each. Data that is
 * kept must not live here: a slice keeps the whole shared buffer in memory.
 */

const SHARED_BYTES = 32 * 1024;
/** Only a few longer slices would fit into a shared buffer. */
const PART_BYTES_MAX = 8 * 1024;

let shared = Buffer.alloc(0);
let used = 0;

/** The buffer's content is undefined. */
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
