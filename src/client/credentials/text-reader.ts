import { readFile } from "node:fs/promises";
import { unauthorized } from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { TextSource } from "../endpoint.ts";

/** Tokens of service accounts are exchanged long before they expire; a refused one is read again at once. */
const FRESH_MS = 10_000;

/** Text that may change where it lies. */
export class TextReader {
  readonly #source: TextSource;
  readonly #what: string;
  readonly #loop: Loop;
  #read: { readonly text: string; readonly at: number } | undefined;

  /** `what` is said in errors. */
  constructor(source: TextSource, what: string, loop: Loop) {
    this.#source = source;
    this.#what = what;
    this.#loop = loop;
  }

  async read(): Promise<string> {
    if ("text" in this.#source) return this.#source.text;
    if (this.#read !== undefined && this.#loop.elapsed() - this.#read.at < FRESH_MS) return this.#read.text;
    return this.#readFile(this.#source.file);
  }

  /** The next one to read gets what is there then. */
  expire(): void {
    if (this.#read !== undefined) this.#read = { ...this.#read, at: -Infinity };
  }

  /** A file that is just being replaced is no reason to forget what was good a moment ago. */
  async #readFile(file: string): Promise<string> {
    try {
      const text = (await this.#loop.outside("file", readFile(file, "utf8"))).trim();
      if (text === "") throw new Error("it is empty");
      this.#read = { text, at: this.#loop.elapsed() };
      return text;
    } catch (error) {
      if (this.#read !== undefined) return this.#read.text;
      throw unauthorized(`${this.#what} cannot be read from ${file}: ${String((error as Error).message)}`);
    }
  }
}
