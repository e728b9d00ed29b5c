/** Frames of SPDY/3 as bytes. https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/ */
import { HeaderReader, HeaderWriter } from "./header-block.ts";
import type { SpdyHeaders } from "./header-block.ts";
import { SpdyError } from "./spdy-error.ts";

export type Frame =
  | {
      readonly type: "open";
      readonly streamId: number;
      readonly isLast: boolean;
      readonly headers: SpdyHeaders;
    }
  | {
      readonly type: "reply";
      readonly streamId: number;
      readonly isLast: boolean;
      readonly headers: SpdyHeaders;
    }
  | {
      readonly type: "headers";
      readonly streamId: number;
      readonly isLast: boolean;
      readonly headers: SpdyHeaders;
    }
  | { readonly type: "data"; readonly streamId: number; readonly isLast: boolean; readonly data: Buffer }
  | { readonly type: "reset"; readonly streamId: number; readonly status: number }
  | { readonly type: "settings"; readonly initialWindow: number | undefined }
  | { readonly type: "ping"; readonly id: number }
  | { readonly type: "go-away"; readonly lastStreamId: number; readonly status: number }
  | { readonly type: "window"; readonly streamId: number; readonly bytes: number }
  | { readonly type: "unknown" };

/** Status of RST_STREAM. */
export const RESET = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5 } as const;

const VERSION = 3;
const CONTROL = 0x80_00;
const TYPES = {
  open: 1,
  reply: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  window: 9,
} as const;
const HEAD_BYTES = 8;
const LAST = 0x01;
/** Clears the bit that is reserved in stream ids and window sizes. */
const UINT31 = 0x7f_ff_ff_ff;
/** Upper bound of a control frame; data frames are passed on in pieces. */
const CONTROL_BYTES_MAX = 64 * 1024;
const INITIAL_WINDOW = 7;
/** Bytes of SYN_STREAM in front of its headers: stream, associated stream, priority and slot. */
const OPEN_BYTES = 10;

/** Keeps the compression state of one direction. */
export class FrameWriter {
  readonly #headers = new HeaderWriter();

  /** Bytes of a frame. A data frame is its head only, so that the data is not copied. */
  write(frame: Exclude<Frame, { readonly type: "unknown" }>): Buffer {
    switch (frame.type) {
      case "data":
        return dataHead(frame.streamId, frame.isLast, frame.data.byteLength);
      case "open": {
        const start = Buffer.alloc(OPEN_BYTES);
        start.writeUInt32BE(frame.streamId);
        return control(TYPES.open, [start, this.#headers.write(frame.headers)], lastFlag(frame));
      }
      case "reply":
      case "headers":
        return control(
          TYPES[frame.type],
          [uint32(frame.streamId), this.#headers.write(frame.headers)],
          lastFlag(frame),
        );
      case "reset":
        return control(TYPES.reset, [uint32(frame.streamId), uint32(frame.status)]);
      case "settings": {
        const { initialWindow } = frame;
        const values = initialWindow === undefined ? [] : [uint32(INITIAL_WINDOW), uint32(initialWindow)];
        return control(TYPES.settings, [uint32(values.length / 2), ...values]);
      }
      case "ping":
        return control(TYPES.ping, [uint32(frame.id)]);
      case "go-away":
        return control(TYPES.goAway, [uint32(frame.lastStreamId), uint32(frame.status)]);
      case "window":
        return control(TYPES.window, [uint32(frame.streamId), uint32(frame.bytes)]);
    }
  }
}

function lastFlag({ isLast }: { readonly isLast: boolean }): number {
  return isLast ? LAST : 0;
}

function dataHead(streamId: number, isLast: boolean, length: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(streamId & UINT31);
  head.writeUInt32BE(length, 4);
  head.writeUInt8(isLast ? LAST : 0, 4);
  return head;
}

function control(type: number, parts: readonly Buffer[], flags = 0): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(CONTROL | VERSION);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(content.byteLength, 4);
  head.writeUInt8(flags, 4);
  return Buffer.concat([head, content]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A data frame of which more bytes are to come. */
interface OpenData {
  readonly streamId: number;
  readonly isLast: boolean;
  bytesLeft: number;
}

/** Finds the frames in the bytes of a peer. Data is passed on as it arrives; control frames are collected. */
export class FrameReader {
  readonly #headers = new HeaderReader();
  #rest: Buffer = Buffer.alloc(0);
  #data: OpenData | undefined;

  /** Throws SpdyError at the first malformed frame. */
  *read(chunk: Buffer): Generator<Frame> {
    let bytes = this.#rest.byteLength === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const taken = this.#take(bytes);
      if (taken === undefined) break;
      bytes = bytes.subarray(taken.bytes);
      if (taken.frame !== undefined) yield taken.frame;
    }
    this.#rest = bytes;
  }

  #take(bytes: Buffer): { readonly bytes: number; readonly frame?: Frame } | undefined {
    if (this.#data !== undefined) return this.#takeData(this.#data, bytes);
    if (bytes.byteLength < HEAD_BYTES) return undefined;
    const length = bytes.readUInt32BE(4) & 0xff_ff_ff;
    const flags = bytes.readUInt8(4);
    const first = bytes.readUInt16BE(0);
    if ((first & CONTROL) === 0) {
      const start = { streamId: bytes.readUInt32BE(0), isLast: (flags & LAST) !== 0 };
      if (length === 0)
        return { bytes: HEAD_BYTES, frame: { type: "data", ...start, data: Buffer.alloc(0) } };
      this.#data = { ...start, bytesLeft: length };
      return { bytes: HEAD_BYTES };
    }
    if (first !== (CONTROL | VERSION)) throw new SpdyError("expected a frame of SPDY version 3");
    if (length > CONTROL_BYTES_MAX)
      throw new SpdyError(`expected a control frame of at most ${CONTROL_BYTES_MAX} bytes, found ${length}`);
    if (bytes.byteLength < HEAD_BYTES + length) return undefined;
    const content = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
    return { bytes: HEAD_BYTES + length, frame: this.#controlFrame(bytes.readUInt16BE(2), flags, content) };
  }

  #takeData(open: OpenData, bytes: Buffer): { readonly bytes: number; readonly frame: Frame } | undefined {
    const data = bytes.subarray(0, open.bytesLeft);
    if (data.byteLength === 0) return undefined;
    open.bytesLeft -= data.byteLength;
    const isWhole = open.bytesLeft === 0;
    if (isWhole) this.#data = undefined;
    const frame = { type: "data", streamId: open.streamId, isLast: open.isLast && isWhole, data } as const;
    return { bytes: data.byteLength, frame };
  }

  #controlFrame(type: number, flags: number, content: Buffer): Frame {
    const number = (at: number): number => numberAt(content, at) & UINT31;
    const isLast = (flags & LAST) !== 0;
    switch (type) {
      case TYPES.open: {
        const streamId = number(0);
        return { type: "open", streamId, isLast, headers: this.#headersAt(content, OPEN_BYTES) };
      }
      case TYPES.reply:
        return { type: "reply", streamId: number(0), isLast, headers: this.#headersAt(content, 4) };
      case TYPES.headers:
        return { type: "headers", streamId: number(0), isLast, headers: this.#headersAt(content, 4) };
      case TYPES.reset:
        return { type: "reset", streamId: number(0), status: number(4) };
      case TYPES.settings:
        return { type: "settings", initialWindow: initialWindowIn(content) };
      case TYPES.ping:
        return { type: "ping", id: numberAt(content, 0) };
      case TYPES.goAway:
        return { type: "go-away", lastStreamId: number(0), status: number(4) };
      case TYPES.window:
        return { type: "window", streamId: number(0), bytes: number(4) };
      default:
        return { type: "unknown" };
    }
  }

  #headersAt(content: Buffer, at: number): SpdyHeaders {
    if (content.byteLength < at) throw new SpdyError("a control frame ends early");
    return this.#headers.read(content.subarray(at));
  }
}

function numberAt(content: Buffer, at: number): number {
  if (at + 4 > content.byteLength) throw new SpdyError("a control frame ends early");
  return content.readUInt32BE(at);
}

/** Each setting has flags and a number of 24 bits, then its value. */
function initialWindowIn(content: Buffer): number | undefined {
  const count = numberAt(content, 0);
  if (4 + count * 8 > content.byteLength) throw new SpdyError("a control frame ends early");
  for (let at = 4; at < 4 + count * 8; at += 8)
    if ((content.readUInt32BE(at) & 0xff_ff_ff) === INITIAL_WINDOW)
      return content.readUInt32BE(at + 4) & UINT31;
  return undefined;
}
