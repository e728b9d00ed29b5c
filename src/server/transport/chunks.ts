/** Pieces as chunks of HTTP/1.1, each with its length in front. Watchers get the same pieces one after the other, and so the same chunks. */
export class Chunks {
  #last: { readonly piece: Uint8Array; readonly chunk: Uint8Array } | undefined;

  of(piece: Uint8Array): Uint8Array {
    if (this.#last?.piece !== piece) this.#last = { piece, chunk: chunkOf(piece) };
    return this.#last.chunk;
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
