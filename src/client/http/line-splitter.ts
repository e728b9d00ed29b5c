const NEWLINE = 0x0a;

/** Makes lines of bytes as they come. A line is text once it is whole, so that no character is torn. */
export class LineSplitter {
  readonly #maxBytes: number;
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that these bytes complete; blank ones are left out. Throws a RangeError when a line is too long. */
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

  /** Half a line is there: the stream must not end here. */
  get isWithinLine(): boolean {
    return this.#restBytes > 0;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#restBytes += bytes.byteLength;
    if (this.#restBytes > this.#maxBytes) throw new RangeError(`a line of more than ${this.#maxBytes} bytes`);
    this.#rest.push(bytes);
  }
}
