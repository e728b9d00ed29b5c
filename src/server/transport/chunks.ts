/**
 * Frames pieces as HTTP/1.1 chunks and caches them. Watchers get the same pieces one after the other, and so share the
 * chunks.
 */

/** Watchers at the same position need one chunk; the others serve slower watchers and watchers of other objects. */
const KEPT = 8;

interface Framed {
  readonly piece: Uint8Array;
  readonly chunk: Uint8Array;
}

export class Chunks {
  /** Newest first. */
  #kept: Framed[] = [];

  of(piece: Uint8Array): Uint8Array {
    for (const framed of this.#kept) if (framed.piece === piece) return framed.chunk;
    const chunk = chunkOf(piece);
    this.#kept = [{ piece, chunk }, ...this.#kept.slice(0, KEPT - 1)];
    return chunk;
  }
}

function chunkOf(piece: Uint8Array): Uint8Array {
  const head = `${piece.byteLength.toString(16)}\r\n`;
  const end = head.length + piece.byteLength;
  const chunk = Buffer.allocUnsafe(end + 2);
  chunk.write(head, "latin1");
  chunk.set(piece, head.length);
  chunk.write("\r\n", end, "latin1");
  return chunk;
}
