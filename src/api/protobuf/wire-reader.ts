/**
 * Reads protobuf within bounds: every length is checked against the remaining bytes, and every varint has a maximum
 * length.
 */
import { isUtf8 } from "node:buffer";
import { DecodeError } from "../schema/decode-error.ts";
import { exactInteger } from "../schema/normal-scalar.ts";

/** Below this length a loop is faster than a call into native code. */
const SHORT_TEXT = 16;
/** Seven bytes of a varint fill 49 bits, which a number holds exactly. */
const EXACT_SCALE = 2 ** 49;

export class WireReader {
  readonly #buffer: Buffer;
  at: number;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  get length(): number {
    return this.#buffer.length;
  }

  /** Reads a tag or a length. A value beyond 32 bits is an error. */
  small(end: number): number {
    if (this.at >= end) throw truncated();
    const first = this.#buffer[this.at] ?? 0;
    if (first < 0x80) {
      this.at++;
      return first;
    }
    const value = this.integer(end);
    if (typeof value === "bigint" || value < 0 || value > 0xffff_ffff)
      throw new DecodeError("proto: integer overflow");
    return value;
  }

  /** Reads a signed 64-bit varint: a number if it is exact, otherwise a bigint. */
  integer(end: number): number | bigint {
    let low = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= end) throw truncated();
      const byte = this.#buffer[this.at++] ?? 0;
      if (scale === EXACT_SCALE) return this.#long(BigInt(low), byte, end);
      low += (byte & 0x7f) * scale;
      scale *= 0x80;
      if (byte < 0x80) return low;
    }
  }

  double(end: number): number {
    if (this.at + 8 > end) throw truncated();
    this.at += 8;
    return this.#buffer.readDoubleLE(this.at - 8);
  }

  /** Reads a length and returns the offset of its end, which is at most `end`. */
  span(end: number): number {
    const length = this.small(end);
    if (length > end - this.at) throw truncated();
    return this.at + length;
  }

  text(end: number): string {
    const until = this.span(end);
    const from = this.at;
    this.at = until;
    const text =
      until - from < SHORT_TEXT ? this.#shortText(from, until) : this.#buffer.toString("utf8", from, until);
    if (!text.includes("\uFFFD") || isUtf8(this.#buffer.subarray(from, until))) return text;
    throw new DecodeError("proto: string field contains invalid UTF-8");
  }

  bytes(end: number): Buffer {
    const until = this.span(end);
    const found = this.#buffer.subarray(this.at, until);
    this.at = until;
    return found;
  }

  skip(wireType: number, end: number): void {
    switch (wireType) {
      case 0:
        this.integer(end);
        return;
      case 1:
        this.#jump(8, end);
        return;
      case 2:
        this.at = this.span(end);
        return;
      case 5:
        this.#jump(4, end);
        return;
      default:
        throw new DecodeError(`proto: illegal wireType ${String(wireType)}`);
    }
  }

  #shortText(from: number, until: number): string {
    let text = "";
    for (let at = from; at < until; at++) {
      const byte = this.#buffer[at] ?? 0;
      if (byte >= 0x80) return this.#buffer.toString("utf8", from, until);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Reads the rest of a varint after its first 49 bits. */
  #long(low: bigint, first: number, end: number): number | bigint {
    let value = low;
    let byte = first;
    for (let shift = 49n; ; shift += 7n) {
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return exactInteger(BigInt.asIntN(64, value));
      if (shift === 63n) throw new DecodeError("proto: integer overflow");
      if (this.at >= end) throw truncated();
      byte = this.#buffer[this.at++] ?? 0;
    }
  }

  #jump(bytes: number, end: number): void {
    if (this.at + bytes > end) throw truncated();
    this.at += bytes;
  }
}

function truncated(): DecodeError {
  return new DecodeError("unexpected EOF");
}
