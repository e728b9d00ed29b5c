/** What is left of a body that nobody wants is read and thrown away, so that the client gets to read its answer. */
import type { Readable } from "node:stream";

const MAX_BYTES = 8 * 1024 * 1024;

/** Cuts off who sends more than is bearable. */
export function discardRest(incoming: Readable, cut: () => void): void {
  let bytesLeft = MAX_BYTES;
  incoming.on("data", (chunk: Uint8Array) => {
    bytesLeft -= chunk.byteLength;
    if (bytesLeft < 0) cut();
  });
  incoming.resume();
}
