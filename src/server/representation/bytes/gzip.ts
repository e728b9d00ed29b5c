/** Compresses large responses as a stream: at most one piece and its output are in memory. */
import { createGzip } from "node:zlib";
import type { Loop } from "../../../base/loop/loop.ts";

/** Up to this size compressing costs more than it saves. As upstream. */
export const GZIP_ABOVE_BYTES = 128 * 1024;
/** The fastest level; slower ones save little on JSON. */
const LEVEL = 1;

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return acceptEncoding
    .split(",")
    .some((clause) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(clause));
}

export async function* gzipped(pieces: AsyncIterable<Uint8Array>, loop: Loop): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: LEVEL });
  let made: Uint8Array[] = [];
  gzip.on("data", (bytes: Uint8Array) => made.push(bytes));
  const failed = new Promise<never>((_, reject) => gzip.once("error", reject));
  const step = (work: (done: () => void) => void): Promise<void> =>
    loop.outside("gzip", Promise.race([new Promise<void>(work), failed]));
  try {
    for await (const piece of pieces) {
      await step((done) => gzip.write(piece, () => done()));
      yield* made;
      made = [];
    }
    await step((done) => {
      gzip.once("end", done);
      gzip.end();
    });
    yield* made;
  } finally {
    gzip.destroy();
  }
}
