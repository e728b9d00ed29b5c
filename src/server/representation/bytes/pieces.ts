/**
 * Builds, compresses and sends large responses piece by piece, as the client reads them. Other steps of the loop run in
 * between.
 */
import { createGzip } from "node:zlib";
import type { Loop } from "../../../base/loop/loop.ts";
import type { HttpResponse } from "../../request/http.ts";
import { RequestPace } from "../../request/pace.ts";

/** Responses up to this size are sent whole; pieces of longer ones have about this size. */
export const PIECE_BYTES = 64 * 1024;

/** Joins small parts, so that each piece is worth a write. A larger part stays whole. `end` comes last. */
export function* joined(parts: Iterable<Uint8Array>, end?: Uint8Array): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    waiting.push(part);
    bytes += part.byteLength;
    if (bytes < PIECE_BYTES) continue;
    yield concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  if (end !== undefined) {
    waiting.push(end);
    bytes += end.byteLength;
  }
  if (bytes > 0) yield concat(waiting, bytes);
}

interface BodyOptions {
  /** Without a loop all pieces may be made in one step. */
  readonly loop?: Loop;
  /** Largest body that is returned whole. */
  readonly wholeBytes?: number;
  /** Appended after all parts; ignored when the only part is already built, which is returned unchanged. */
  readonly end?: Uint8Array;
}

/** A whole body when it is short or already built; otherwise pieces made on demand. */
export function bodyOf(
  parts: Iterable<Uint8Array>,
  { wholeBytes = PIECE_BYTES, end, loop }: BodyOptions = {},
): HttpResponse["body"] {
  if (Array.isArray(parts) && parts.length === 1) return parts[0] as Uint8Array;
  const pieces = joined(parts, end);
  const first: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const next = pieces.next();
    if (next.done === true) return concat(first, bytes);
    first.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > wholeBytes) return follow(first, pieces, loop);
  }
}

async function* follow(
  first: readonly Uint8Array[],
  rest: Iterable<Uint8Array>,
  loop: Loop | undefined,
): AsyncGenerator<Uint8Array> {
  yield* first;
  const pace = loop === undefined ? undefined : new RequestPace(loop);
  pace?.weigh(Infinity);
  for (const piece of rest) {
    yield piece;
    const resting = pace?.rest();
    if (resting !== undefined) await resting;
  }
}

function concat(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes);
}

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

/** At most one piece and its output are in memory. */
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
