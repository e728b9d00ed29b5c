/** The cheapest HTTP/2 client: prepared frames on raw TLS sockets, headers without compression, several requests in flight on each. */
import type { TLSSocket } from "node:tls";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8] as const;
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4] as const;
const HEADER_BYTES = 9;
const WINDOW_MAX = 2 ** 31 - 1;
/** The flow-control window of a connection is topped up after this many bytes. */
const TOP_UP_BYTES = 64 << 20;

export interface Http2Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** One connection; each request is a stream of its own. */
export class Http2Answers {
  readonly #socket: TLSSocket;
  readonly #waiting = new Map<number, (code: number) => void>();
  readonly #codes = new Map<number, number>();
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer[] = [];
  #payloadLeft = 0;
  #receivedBytes = 0;
  #nextStream = 1;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (piece: Buffer) => this.#take(piece));
    // No header table, and the largest window.
    const settings = Buffer.alloc(12);
    settings.writeUInt16BE(1, 0);
    settings.writeUInt16BE(4, 6);
    settings.writeUInt32BE(WINDOW_MAX, 8);
    const window = windowUpdate(WINDOW_MAX - 65_535);
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, settings), window]));
  }

  /** Resolves with the status code; 0 when the server resets the stream. */
  send({ method, path, headers = {}, body }: Http2Request): Promise<number> {
    const stream = this.#nextStream;
    this.#nextStream += 2;
    const fields = {
      ":method": method,
      ":scheme": "https",
      ":authority": "127.0.0.1",
      ":path": path,
      "user-agent": "bench/1",
      ...headers,
    };
    const block = Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)));
    const flags = END_HEADERS | (body === undefined ? END_STREAM : 0);
    const frames = [frame(HEADERS, flags, block, stream)];
    if (body !== undefined) frames.push(frame(DATA, END_STREAM, Buffer.from(body), stream));
    return new Promise((resolve) => {
      this.#waiting.set(stream, resolve);
      this.#socket.write(Buffer.concat(frames));
    });
  }

  #take(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      if (this.#headerBytes < HEADER_BYTES) {
        const end = Math.min(piece.length, at + HEADER_BYTES - this.#headerBytes);
        piece.copy(this.#header, this.#headerBytes, at, end);
        this.#headerBytes += end - at;
        at = end;
        if (this.#headerBytes < HEADER_BYTES) return;
        this.#payloadLeft = this.#header.readUIntBE(0, 3);
      }
      const end = Math.min(piece.length, at + this.#payloadLeft);
      if (this.#header[3] !== DATA) this.#payload.push(piece.subarray(at, end));
      this.#payloadLeft -= end - at;
      at = end;
      if (this.#payloadLeft === 0) this.#endFrame();
    }
  }

  #endFrame(): void {
    const [type = 0, flags = 0] = this.#header.subarray(3);
    const payload = Buffer.concat(this.#payload);
    const stream = this.#header.readUInt32BE(5);
    const length = this.#header.readUIntBE(0, 3);
    this.#headerBytes = 0;
    this.#payload = [];
    if (stream === 0) return this.#takeControl(type, flags, payload);
    if (type === DATA) this.#topUp(length);
    if (type === HEADERS) this.#codes.set(stream, statusOf(payload));
    const isEnd = (type === HEADERS || type === DATA) && (flags & END_STREAM) !== 0;
    if (isEnd || type === RST_STREAM) this.#answer(stream);
  }

  /** Handles frames of the connection itself. */
  #takeControl(type: number, flags: number, payload: Buffer): void {
    if (type === GOAWAY) throw new Error("the server ends the connection");
    if ((flags & ACK) !== 0) return;
    if (type === SETTINGS) this.#socket.write(frame(SETTINGS, ACK, Buffer.alloc(0)));
    if (type === PING) this.#socket.write(frame(PING, ACK, payload));
  }

  #topUp(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes < TOP_UP_BYTES) return;
    this.#socket.write(windowUpdate(this.#receivedBytes));
    this.#receivedBytes = 0;
  }

  #answer(stream: number): void {
    const resolve = this.#waiting.get(stream);
    const code = this.#codes.get(stream) ?? 0;
    this.#waiting.delete(stream);
    this.#codes.delete(stream);
    resolve?.(code);
  }
}

function frame(type: number, flags: number, payload: Buffer, stream = 0): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** WINDOW_UPDATE of the whole connection. */
function windowUpdate(bytes: number): Buffer {
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(bytes);
  return frame(WINDOW_UPDATE, 0, increment);
}

/** A header that neither uses nor fills the header table. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  if (rest > 127) throw new Error("a header of the load is short");
  return Buffer.concat([Buffer.from([127, rest]), bytes]);
}

/** Status codes with their own entry in the static table, from index 8 on. */
const STATIC_CODES = [200, 204, 206, 304, 400, 404, 500];
/** Huffman codes of the digits. */
const SHORT_DIGIT_BITS = 5;
const LONG_DIGIT_BITS = 6;
const FIRST_LONG_DIGIT = 0b011001;

/** The status is the first header; a table size update may precede it. */
function statusOf(block: Buffer): number {
  let at = 0;
  while (((block[at] ?? 0) & 0xe0) === 0x20) at += 1;
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return STATIC_CODES[(first & 0x7f) - 8] ?? 0;
  const length = block[at + 1] ?? 0;
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f));
  return Number((length & 0x80) === 0 ? value.toString("latin1") : digits(value));
}

function digits(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  let found = "";
  for (let at = 0; found.length < 3;) {
    const short = Number.parseInt(bits.slice(at, at + SHORT_DIGIT_BITS), 2);
    if (short <= 2) {
      found += String(short);
      at += SHORT_DIGIT_BITS;
    } else {
      const long = Number.parseInt(bits.slice(at, at + LONG_DIGIT_BITS), 2);
      found += String(3 + long - FIRST_LONG_DIGIT);
      at += LONG_DIGIT_BITS;
    }
  }
  return found;
}
