/** Two connections that become one: what comes from either goes to the other, no faster than it is taken. */
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { SwitchedStream } from "../request/http.ts";

const LISTENERS_MAX = 32;

/** Resolves when both are closed. Either may end its own direction; one that breaks takes the other with it. */
export async function joined(left: SwitchedStream, right: SwitchedStream): Promise<void> {
  for (const { stream } of [left, right]) {
    // Both directions listen, beside whoever had the connection before.
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

/** What broke is no concern of anybody: whoever used the connection sees that it has ended. */
async function flow(from: Duplex, to: Duplex): Promise<void> {
  try {
    await pipeline(from, to);
  } catch {
    from.destroy();
    to.destroy();
  }
}
