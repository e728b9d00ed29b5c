/** Two ends of a connection in memory. Bytes written to one end are read from the other, with the reader's backpressure. */
import { Duplex } from "node:stream";

export function duplexPair(): readonly [Duplex, Duplex] {
  const left = new PairEnd();
  const right = new PairEnd();
  left.join(right);
  right.join(left);
  return [left, right];
}

class PairEnd extends Duplex {
  #peer: PairEnd | undefined;
  /** Continues the peer's writes once this end was read. */
  #onRead: (() => void) | undefined;

  join(peer: PairEnd): void {
    this.#peer = peer;
  }

  override _read(): void {
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#peer === undefined || this.#peer.destroyed) done(new Error("the other end is closed"));
    else this.#peer.#take(chunk, done);
  }

  override _final(done: () => void): void {
    if (this.#peer?.destroyed === false) this.#peer.push(null);
    done();
  }

  /** The other end closes too, as with a socket, after its reader had the chance to read the rest. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#peer !== undefined) this.#peer.#peerClosed();
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
    done(error);
  }

  #take(chunk: Buffer, done: () => void): void {
    if (this.push(chunk)) done();
    else this.#onRead = done;
  }

  #peerClosed(): void {
    if (this.destroyed) return;
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
    this.push(null);
  }
}
