/**
 * One stream of a connection, as a Duplex. `end` closes the own direction, the peer's direction stays open. After a reset by
 * the peer the readable side ends, and writes are dropped: the peer does not read them.
 */
import { Duplex } from "node:stream";
import type { Frame } from "./frames.ts";
import { RESET } from "./frames.ts";
import type { SpdyHeaders } from "./header-block.ts";

/** Bytes that a peer may send ahead of the reader. */
export const WINDOW_BYTES = 256 * 1024;
/** Memory of a waiting piece beside its bytes. Without it, frames of one byte would cost nothing. */
const PIECE_BYTES = 200;
/** Data is sent in frames of this size, so that streams take turns. */
const FRAME_BYTES_MAX = 32 * 1024;

/** The stream's view of its connection. */
export interface StreamPort {
  /** Whether the peer reads and sends window updates. */
  readonly hasWindows: boolean;
  /** False when the connection has no room: `resumeSending` follows. */
  send(stream: SpdyStream, frame: Exclude<Frame, { readonly type: "unknown" }>): boolean;
  /** The reader has caught up, or fallen behind by a whole window. */
  noteBacklog(stream: SpdyStream, isBehind: boolean): void;
  /** Change of the bytes that wait for the reader. */
  noteUnread(bytes: number): void;
  forget(stream: SpdyStream): void;
}

interface StreamStart {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly port: StreamPort;
  /** Bytes that may be sent; unlimited towards peers without windows. */
  readonly sendWindow: number;
}

export class SpdyStream extends Duplex {
  readonly id: number;
  /** Headers of the request for the stream, for example `streamtype`. */
  readonly headers: SpdyHeaders;
  readonly #port: StreamPort;
  readonly #replied: Promise<void>;
  #noteReply: (reply: "accepted" | "refused") => void = () => undefined;
  #sendWindow: number;
  #sentBytes = 0;
  #waiting: { data: Buffer; readonly done: () => void } | undefined;
  /** Bytes received for which the peer has no credit yet. */
  #uncredited = 0;
  /** Estimated memory of the data that waits for the reader. */
  #unread = 0;
  #hasSentLast = false;
  #hasReceivedLast = false;

  constructor({ id, headers, port, sendWindow }: StreamStart) {
    super({ readableHighWaterMark: FRAME_BYTES_MAX, writableHighWaterMark: FRAME_BYTES_MAX });
    this.id = id;
    this.headers = headers;
    this.#port = port;
    this.#sendWindow = sendWindow;
    this.#replied = new Promise((resolve, reject) => {
      this.#noteReply = (reply) =>
        reply === "accepted" ? resolve() : reject(new Error(`the peer refused stream ${id}`));
    });
    // The promise is optional for callers.
    this.#replied.catch(() => undefined);
  }

  /** Resolves when the peer accepted the stream; rejects when it refused it or the connection closed. */
  get replied(): Promise<void> {
    return this.#replied;
  }

  override _read(): void {
    this.#noteReading();
  }

  override read(size?: number): unknown {
    const before = this.readableLength;
    const data: unknown = super.read(size);
    this.#noteUnread(Math.min(this.#unread, (this.#unread * this.readableLength) / Math.max(before, 1)));
    return data;
  }

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.#waiting = { data, done };
    this.resumeSending();
  }

  override _final(done: () => void): void {
    this.#sendLast();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#noteReply("refused");
    const { id } = this;
    if (!this.#hasSentLast || !this.#hasReceivedLast)
      this.#port.send(this, { type: "reset", streamId: id, status: RESET.cancel });
    this.#port.noteBacklog(this, false);
    this.#noteUnread(0);
    this.#port.forget(this);
    this.#waiting?.done();
    done(error);
  }

  /** Called by the connection when it has room again or the window has grown. */
  resumeSending(): void {
    while (this.#waiting !== undefined) {
      const { data, done } = this.#waiting;
      if (this.#hasSentLast || data.byteLength === 0) {
        this.#waiting = undefined;
        done();
        return;
      }
      const bytes = Math.min(data.byteLength, FRAME_BYTES_MAX, this.#sendWindow);
      if (bytes <= 0) return;
      this.#sendWindow -= bytes;
      this.#sentBytes += bytes;
      this.#waiting.data = data.subarray(bytes);
      const piece = data.subarray(0, bytes);
      if (!this.#port.send(this, { type: "data", streamId: this.id, isLast: false, data: piece })) return;
    }
  }

  takeReply(): void {
    this.#noteReply("accepted");
  }

  takeData(data: Buffer): void {
    if (this.#hasReceivedLast || this.destroyed || data.byteLength === 0) return;
    this.#uncredited += data.byteLength;
    this.push(data);
    this.#noteUnread(this.readableLength === 0 ? 0 : this.#unread + data.byteLength + PIECE_BYTES);
    if (this.readableLength > WINDOW_BYTES) this.#port.noteBacklog(this, true);
  }

  takeLast(): void {
    if (this.#hasReceivedLast) return;
    this.#hasReceivedLast = true;
    this.#port.noteBacklog(this, false);
    this.push(null);
    this.#forgetIfOver();
  }

  takeReset(): void {
    this.#hasSentLast = true;
    this.#noteReply("refused");
    this.resumeSending();
    this.takeLast();
    this.#forgetIfOver();
  }

  takeWindow(bytes: number): void {
    this.#sendWindow += bytes;
    this.resumeSending();
  }

  /** Bytes sent before the first announcement count too: the peer gives credit for them. */
  changeWindow(initial: number, before: number | undefined): void {
    this.#sendWindow = before === undefined ? initial - this.#sentBytes : this.#sendWindow + initial - before;
    this.resumeSending();
  }

  /** The connection has closed. A stream that was received as a whole stays readable. */
  noteClosed(): void {
    if (this.#hasReceivedLast) this.takeReset();
    else this.destroy();
  }

  #sendLast(): void {
    if (this.#hasSentLast) return;
    this.#hasSentLast = true;
    this.#port.send(this, { type: "data", streamId: this.id, isLast: true, data: Buffer.alloc(0) });
    this.#forgetIfOver();
  }

  #forgetIfOver(): void {
    if (this.#hasSentLast && this.#hasReceivedLast) this.#port.forget(this);
  }

  #noteUnread(bytes: number): void {
    if (bytes === this.#unread) return;
    this.#port.noteUnread(bytes - this.#unread);
    this.#unread = bytes;
  }

  /** Gives the peer credit for bytes that were read. */
  #noteReading(): void {
    if (this.readableLength <= WINDOW_BYTES / 2) this.#port.noteBacklog(this, false);
    const credit = this.#uncredited - this.readableLength;
    if (!this.#port.hasWindows || this.#hasReceivedLast || credit < WINDOW_BYTES / 2) return;
    this.#uncredited -= credit;
    this.#port.send(this, { type: "window", streamId: this.id, bytes: credit });
  }
}
