/** The bytes in binary messages of a WebSocket as one stream. SPDY passes through it: `SPDY/3.1+portforward.k8s.io`. */
import { Duplex } from "node:stream";
import type { Message, MessageStream } from "../websocket/message-stream.ts";

export const TUNNEL_PROTOCOL = "SPDY/3.1+portforward.k8s.io";

export class MessageBytes extends Duplex {
  readonly #messages: MessageStream;

  constructor(messages: MessageStream) {
    super();
    this.#messages = messages;
    messages.on("data", (message: Message) => {
      if (!this.push(Buffer.from(message))) messages.pause();
    });
    messages.once("end", () => this.push(null));
    messages.once("close", () => this.destroy());
  }

  override _read(): void {
    this.#messages.resume();
  }

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    if (this.#messages.writable) this.#messages.write(data, () => done());
    else done();
  }

  override _final(done: () => void): void {
    this.#messages.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#messages.destroy();
    done(error);
  }
}
