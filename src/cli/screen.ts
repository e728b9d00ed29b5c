/** A terminal with one live line at its bottom. Other output goes above the line. */
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

/** Moves to the first column and erases the line. */
const ERASE = "\r\u001b[2K";

export interface ScreenStreams {
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly columns?: number };
}

export class Screen {
  readonly #streams: ScreenStreams;
  #line = "";

  constructor(streams: ScreenStreams) {
    this.#streams = streams;
  }

  /** Shows plain text until the next call; an empty text shows none. A text that is too long is cut, never wrapped. */
  live(text: string): void {
    if (text === this.#line) return;
    const shown = this.#line === "" ? "" : ERASE;
    this.#line = text;
    this.#streams.stdout.write(shown + this.#fitting());
  }

  /** Wraps a function that prints whole lines, so that they appear above the live line. */
  above(print: (text: string) => void): (text: string) => void {
    return (text) => {
      if (this.#line === "") return print(text);
      this.#streams.stdout.write(ERASE);
      print(text);
      this.#streams.stdout.write(this.#fitting());
    };
  }

  /** Asks the user for a line. Empty when the terminal is closed. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    const { stdin: input, stdout: output } = this.#streams;
    const lines = createInterface({ input, output });
    try {
      return await lines.question(question, { signal });
    } finally {
      lines.close();
    }
  }

  #fitting(): string {
    // A terminal of unknown size has 0 columns.
    const columns = this.#streams.stdout.columns || 80;
    return this.#line.length < columns ? this.#line : `${this.#line.slice(0, Math.max(columns - 2, 0))}…`;
  }
}
