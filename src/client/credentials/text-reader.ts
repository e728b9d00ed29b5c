import { readFile } from "node:fs/promises";
import { unauthorized } from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { TextSource } from "../endpoint.ts";

/**
 * Service account tokens are rotated long before they expire, so a short cache is safe. A rejected token is read
 * again at once.
 */
const FRESH_MS = 10_000;

/** A text, or the current content of a file that may change. */
export class TextReader {
  readonly #source: TextSource;
  readonly #role: string;
  readonly #loop: Loop;
  #read: { readonly text: string; readonly at: number } | undefined;

  /** `role` names the text in errors. */
  constructor(source: TextSource, role: string, loop: Loop) {
    this.#source = source;
    this.#role = role;
    this.#loop = loop;
  }

  async read(): Promise<string> {
    if ("text" in this.#source) return this.#source.text;
    if (this.#read !== undefined && this.#loop.elapsed() - this.#read.at < FRESH_MS) return this.#read.text;
    return this.#readFile(this.#source.file);
  }

  /** Makes the next read go to the file. */
  expire(): void {
    if (this.#read !== undefined) this.#read = { ...this.#read, at: -Infinity };
  }

  /** Falls back to the last content when the file cannot be read, for example while it is replaced. */
  async #readFile(file: string): Promise<string> {
    try {
      const text = (await this.#loop.outside("file", readFile(file, "utf8"))).trim();
      if (text === "") throw new Error("it is empty");
      this.#read = { text, at: this.#loop.elapsed() };
      return text;
    } catch (error) {
      if (this.#read !== undefined) return this.#read.text;
      throw unauthorized(`${this.#role} cannot be read from ${file}: ${String((error as Error).message)}`);
    }
  }
}
