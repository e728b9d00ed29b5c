/** Reads and drops the rest of an unwanted body, so that the client gets to read its response. */
import type { Readable } from "node:stream";

const MAX_BYTES = 8 * 1024 * 1024;

/** Calls `cut` when the client sends more than `MAX_BYTES`. */
export function discardRest(incoming: Readable, cut: () => void): void {
  let bytesLeft = MAX_BYTES;
  incoming.on("data", (chunk: Uint8Array) => {
    bytesLeft -= chunk.byteLength;
    if (bytesLeft < 0) cut();
  });
  incoming.resume();
}
