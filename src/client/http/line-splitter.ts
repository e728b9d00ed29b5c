const NEWLINE = 0x0a;

/** Splits bytes into lines. A line is decoded once it is complete, so that no character is cut. */
export class LineSplitter {
  readonly #maxBytes: number;
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that these bytes complete, without blank ones. Throws a RangeError when a line is too long. */
  push(bytes: Uint8Array): readonly string[] {
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1) {
      this.#keep(bytes);
      return [];
    }
    const whole = Buffer.concat([...this.#rest, bytes.subarray(0, end)]).toString("utf8");
    this.#rest = [];
    this.#restBytes = 0;
    this.#keep(bytes.subarray(end + 1));
    return whole.split("\n").filter((line) => line.trim() !== "");
  }

  /** True while a line is incomplete: the stream must not end now. */
  get isWithinLine(): boolean {
    return this.#restBytes > 0;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#restBytes += bytes.byteLength;
    if (this.#restBytes > this.#maxBytes)
      throw new RangeError(`a line has more than ${this.#maxBytes} bytes`);
    this.#rest.push(bytes);
  }
}
