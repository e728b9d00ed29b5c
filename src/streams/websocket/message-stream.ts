/** A WebSocket as a Duplex of messages: a string is a message of text, a Buffer a binary message. `end` closes it normally. */
import { Duplex } from "node:stream";
import type { WebSocket } from "ws";

export type Message = string | Buffer;

/** Received messages that wait for the reader. A message may have megabytes. */
const RECEIVED_MAX = 1;
/** Written messages that wait for the connection. */
const SENT_MAX = 16;
const NORMAL_CLOSURE = 1000;

export class MessageStream extends Duplex {
  readonly #socket: WebSocket;
  #isBehind = false;
  #isAnswering = false;

  constructor(socket: WebSocket) {
    super({ objectMode: true, readableHighWaterMark: RECEIVED_MAX, writableHighWaterMark: SENT_MAX });
    this.#socket = socket;
    socket.on("message", (data: Buffer, isBinary: boolean) => this.#take(isBinary ? data : data.toString()));
    // The handler is needed to answer only clients that read the answers.
    socket.on("ping", (data: Buffer) => this.#answer(data));
    // The close event follows, and the users of this stream see that it has closed.
    socket.on("error", () => undefined);
    socket.once("close", () => this.#closed());
  }

  override _read(): void {
    this.#isBehind = false;
    this.#resume();
  }

  /** Done when the connection took the message, so that a slow peer slows the writer. */
  override _write(message: Message, _encoding: string, done: () => void): void {
    if (this.#socket.readyState !== this.#socket.OPEN) done();
    else this.#socket.send(message, { binary: typeof message !== "string" }, () => done());
  }

  override _final(done: () => void): void {
    this.#socket.close(NORMAL_CLOSURE);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate();
    done(error);
  }

  #take(message: Message): void {
    if (this.destroyed || this.push(message)) return;
    this.#isBehind = true;
    this.#socket.pause();
  }

  #answer(data: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#isAnswering = true;
    this.#socket.pause();
    this.#socket.pong(data, false, () => {
      this.#isAnswering = false;
      this.#resume();
    });
  }

  #resume(): void {
    if (!this.#isBehind && !this.#isAnswering) this.#socket.resume();
  }

  /** Messages that arrived before stay readable. */
  #closed(): void {
    if (this.destroyed) return;
    this.once("end", () => this.destroy());
    this.push(null);
  }
}
