/** A control sequence, or a character that is none. */
const NEXT = /^(?:\p{Cc}\[(\??[\d;]*)([A-Za-z])|[^\p{Cc}]|[\r\n])/u;

/** Reads what a program draws on a terminal: moves of the cursor, characters, a cleared screen. */
export class ScreenReader {
  /** Whether the program has its screen of its own now. */
  isFull = false;
  /** Everything that was written since the program left its screen for the last time. */
  after = "";
  readonly #rows: string[][] = [];
  readonly #decoder = new TextDecoder();
  #rest = "";
  #x = 0;
  #y = 0;

  get text(): string {
    return this.#rows
      .map((row) =>
        Array.from(row, (char) => char ?? " ")
          .join("")
          .trimEnd(),
      )
      .join("\n");
  }

  read(bytes: Uint8Array): void {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    for (;;) {
      const found = NEXT.exec(this.#rest);
      if (found === null) return;
      this.#rest = this.#rest.slice(found[0].length);
      if (found[2] === undefined) this.#put(found[0]);
      else this.#control(found[1] ?? "", found[2]);
    }
  }

  #control(parameters: string, name: string): void {
    if (name === "H") {
      const [row = 1, column = 1] = parameters.split(";").map((text) => Number(text || 1));
      [this.#y, this.#x] = [row - 1, column - 1];
    }
    if (name === "J") this.#rows.length = 0;
    if (parameters === "?1049" && name === "h") this.isFull = true;
    if (parameters === "?1049" && name === "l") [this.isFull, this.after] = [false, ""];
  }

  #put(char: string): void {
    if (!this.isFull) this.after += char;
    const row = (this.#rows[this.#y] ??= []);
    row[this.#x++] = char;
  }
}
