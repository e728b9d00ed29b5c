/** Joins two connections: bytes of each go to the other, no faster than the other reads them. */
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { SwitchedStream } from "../request/http.ts";

const LISTENERS_MAX = 32;

/** Resolves when both are closed. Either side may end its own direction; an error on one side closes both. */
export async function joined(left: SwitchedStream, right: SwitchedStream): Promise<void> {
  for (const { stream } of [left, right]) {
    // Both directions add listeners, beside those of the previous owner.
    stream.setMaxListeners(LISTENERS_MAX);
    stream.on("error", () => undefined);
  }
  if (left.head.byteLength > 0) right.stream.write(left.head);
  if (right.head.byteLength > 0) left.stream.write(right.head);
  const flows = [flow(left.stream, right.stream), flow(right.stream, left.stream)];
  await Promise.all(flows);
  left.stream.destroy();
  right.stream.destroy();
}

/** Drops the error: the user of the connection sees that it has closed. */
async function flow(from: Duplex, to: Duplex): Promise<void> {
  try {
    await pipeline(from, to);
  } catch {
    from.destroy();
    to.destroy();
  }
}
