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

  /** An end that was finished leaves the rest to the reader of the other. An unfinished end cuts the other, like a reset. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#peer !== undefined) this.#peer.#peerClosed(this.writableFinished);
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
    done(error);
  }

  #take(chunk: Buffer, done: () => void): void {
    if (this.push(chunk)) done();
    else this.#onRead = done;
  }

  #peerClosed(isFinished: boolean): void {
    if (this.destroyed) return;
    if (!isFinished || this.readableEnded) {
      this.destroy();
      return;
    }
    this.once("end", () => this.destroy());
    this.push(null);
  }
}
