/**
 * Writes protobuf from the end to the beginning, so that the length of a message is known when its turn comes and
 * nothing is measured twice. Callers write fields in falling order, and each field's value before its tag.
 */

const START_BYTES = 16 * 1024;
/** A scratch buffer above this is not kept for the next message. */
const KEPT_BYTES = 1024 * 1024;
/** Below this length a loop beats the call into native code. */
const SHORT_TEXT = 24;

const EMPTY: Buffer = Buffer.alloc(0);

let scratch: Buffer = EMPTY;

export class WireWriter {
  #buffer: Buffer;
  /** Where the written part begins. */
  #at: number;

  constructor() {
    // A writer at work owns the scratch; one made meanwhile gets its own.
    this.#buffer = scratch;
    scratch = EMPTY;
    if (this.#buffer.length === 0) this.#buffer = Buffer.allocUnsafeSlow(START_BYTES);
    this.#at = this.#buffer.length;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  varint(value: number): void {
    if (value < 0x80) {
      this.#reserve(1);
      this.#buffer[--this.#at] = value;
      return;
    }
    const bytes = varintBytes(value);
    this.#reserve(bytes);
    this.#at -= bytes;
    let rest = value;
    let at = this.#at;
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[at] = rest;
  }

  /** An int32 or int64: negative values take ten bytes, as in Go. */
  integer(value: number | bigint): void {
    if (typeof value === "number" && value >= 0) {
      this.varint(value);
      return;
    }
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.bytes(Uint8Array.from(bytes));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
  }

  /** The bytes and before them their number. */
  sized(value: Uint8Array): void {
    this.bytes(value);
    this.varint(value.length);
  }

  /** The text's bytes and before them their number. */
  text(value: string): void {
    if (value.length < SHORT_TEXT && this.#ascii(value)) {
      this.varint(value.length);
      return;
    }
    const bytes = Buffer.byteLength(value);
    this.#reserve(bytes);
    this.#at -= bytes;
    this.#buffer.write(value, this.#at, bytes, "utf8");
    this.varint(bytes);
  }

  /** What was written, as bytes of its own. The writer is done with. */
  finish(): Uint8Array {
    const result = new Uint8Array(this.length);
    result.set(this.#buffer.subarray(this.#at));
    if (this.#buffer.length <= KEPT_BYTES) scratch = this.#buffer;
    this.#buffer = EMPTY;
    this.#at = 0;
    return result;
  }

  /** Whether the text was ASCII and is written. */
  #ascii(value: string): boolean {
    this.#reserve(value.length);
    const start = this.#at - value.length;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      this.#buffer[start + index] = code;
    }
    this.#at = start;
    return true;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#at) return;
    const written = this.#buffer.subarray(this.#at);
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, written.length + bytes));
    this.#at = grown.length - written.length;
    grown.set(written, this.#at);
    this.#buffer = grown;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
