/**
 * Numbered streams in one WebSocket: the first byte of each message is the number of its channel. With base64, it is the
 * digit, and text follows.
 */
import { Duplex } from "node:stream";
import type { Message, MessageStream } from "./message-stream.ts";

/** Data is sent in messages of this size, so that channels take turns. */
const MESSAGE_BYTES = 32 * 1024;
const CHANNEL_BYTES_MAX = 64 * 1024;
/** Number of the channel whose message closes the channel that it names. */
const CLOSING = 255;
const DIGIT_0 = 0x30;

export interface ChannelEncoding {
  readonly isBase64: boolean;
  /** Side that may close a channel. Only clients do, and only in the newest protocol. */
  readonly closes: "own" | "peer" | "none";
}

export class Channels {
  /** Resolves when the WebSocket has closed. */
  readonly closed: Promise<void>;
  readonly #messages: MessageStream;
  readonly #encoding: ChannelEncoding;
  readonly #channels = new Map<number, Channel>();
  readonly #behind = new Set<Channel>();

  constructor(messages: MessageStream, encoding: ChannelEncoding) {
    this.#messages = messages;
    this.#encoding = encoding;
    this.closed = new Promise((resolve) => messages.once("close", resolve));
    messages.once("end", () => this.#ended());
    messages.once("close", () => this.#ended());
    messages.on("data", (message: Message) => this.#take(message));
  }

  /** Opens a channel. Messages to other channels are dropped. */
  open(number: number): Duplex {
    const channel = new Channel({
      send: (data, done) => this.#send(number, data, done),
      end: () => this.#sendEnd(number),
      noteRead: (read) => this.#noteRead(read),
    });
    this.#channels.set(number, channel);
    return channel;
  }

  /** Closes the WebSocket after everything written was sent. */
  close(): void {
    this.#messages.end();
    // The peer answers with its own close frame, which is only seen by reading on.
    this.#behind.clear();
    this.#messages.resume();
  }

  destroy(): void {
    this.#messages.destroy();
  }

  #send(number: number, data: Buffer, done: () => void): void {
    if (!this.#messages.writable) return done();
    const message = this.#encoding.isBase64
      ? String(number) + data.toString("base64")
      : Buffer.concat([Buffer.from([number]), data]);
    this.#messages.write(message, () => done());
    return undefined;
  }

  #sendEnd(number: number): void {
    if (this.#encoding.closes === "own" && this.#messages.writable)
      this.#messages.write(Buffer.from([CLOSING, number]));
  }

  #take(message: Message): void {
    const bytes = typeof message === "string" ? Buffer.from(message) : message;
    const first = bytes[0];
    if (first === undefined) return;
    if (this.#encoding.closes === "peer" && first === CLOSING)
      return this.#channels.get(bytes[1] ?? CLOSING)?.receiveEnd();
    const { isBase64 } = this.#encoding;
    const channel = this.#channels.get(isBase64 ? first - DIGIT_0 : first);
    const data = bytes.subarray(1);
    if (channel?.receive(isBase64 ? Buffer.from(data.toString("latin1"), "base64") : data) !== false)
      return undefined;
    this.#behind.add(channel);
    this.#messages.pause();
    return undefined;
  }

  #noteRead(channel: Channel): void {
    if (this.#behind.delete(channel) && this.#behind.size === 0) this.#messages.resume();
  }

  #ended(): void {
    for (const channel of this.#channels.values()) channel.receiveEnd();
  }
}

interface ChannelPort {
  send(data: Buffer, done: () => void): void;
  end(): void;
  noteRead(channel: Channel): void;
}

class Channel extends Duplex {
  readonly #port: ChannelPort;
  #hasEnded = false;

  constructor(port: ChannelPort) {
    super({ readableHighWaterMark: CHANNEL_BYTES_MAX });
    this.#port = port;
  }

  override _read(): void {
    this.#port.noteRead(this);
  }

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    if (data.byteLength <= MESSAGE_BYTES) return this.#port.send(data, done);
    this.#port.send(data.subarray(0, MESSAGE_BYTES), () =>
      this._write(data.subarray(MESSAGE_BYTES), "buffer", done),
    );
    return undefined;
  }

  override _final(done: () => void): void {
    this.#port.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.noteRead(this);
    done(error);
  }

  /** False when the reader is behind. */
  receive(data: Buffer): boolean {
    return this.#hasEnded || this.destroyed || data.byteLength === 0 || this.push(data);
  }

  receiveEnd(): void {
    if (this.#hasEnded || this.destroyed) return;
    this.#hasEnded = true;
    this.push(null);
  }
}
