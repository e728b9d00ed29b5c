/**
 * Writes protobuf from back to front. The length of a message is then known when it is written, so nothing is measured
 * twice. Callers write fields in descending order, and each field's value before its tag.
 */

const START_BYTES = 16 * 1024;
/** A larger scratch buffer is not kept for the next message. */
const KEPT_BYTES = 1024 * 1024;
/** Below this length a loop is faster than a call into native code. */
const SHORT_TEXT = 24;

const EMPTY: Buffer = Buffer.alloc(0);

let scratch: Buffer = EMPTY;

export class WireWriter {
  #buffer: Buffer;
  /** Offset of the first written byte. */
  #at: number;

  constructor() {
    // A writer owns the scratch buffer until `finish`; a second writer in the meantime allocates its own.
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

  /** Writes an int32 or int64. Negative values take ten bytes, as in Go. */
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

  /** Writes the bytes, preceded by their length. */
  sized(value: Uint8Array): void {
    this.bytes(value);
    this.varint(value.length);
  }

  /** Writes the text in UTF-8, preceded by its length in bytes. */
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

  /** Returns a copy of the written bytes. The writer must not be used afterwards. */
  finish(): Uint8Array {
    const result = new Uint8Array(this.length);
    result.set(this.#buffer.subarray(this.#at));
    if (this.#buffer.length <= KEPT_BYTES) scratch = this.#buffer;
    this.#buffer = EMPTY;
    this.#at = 0;
    return result;
  }

  /** Writes the text if it is ASCII. Returns false if it is not. */
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
