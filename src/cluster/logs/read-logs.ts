/** Reads the logs of all components as one, in the order of their times. */
import { open, stat } from "node:fs/promises";
import type { Loop } from "../../base/loop/loop.ts";
import { componentLogFile } from "./component-logs.ts";
import type { LogComponent } from "./component-logs.ts";

/** A message with its stack. */
export interface LogRecord {
  readonly component: LogComponent;
  /** Begins with the time. */
  readonly text: string;
}

/** Most bytes that one read takes from a file; a rotated file is not larger. */
const BYTES_MAX = 8 << 20;
const NEWLINE = 10;

export class LogReader {
  readonly #tails: readonly FileTail[];

  constructor(
    dataDir: string,
    { components, loop }: { readonly components: readonly LogComponent[]; readonly loop: Loop },
  ) {
    this.#tails = components.map((component) => new FileTail(component, { dataDir, loop }));
  }

  /** Records that were written since the last call; at first all of the current files. */
  async read(): Promise<readonly LogRecord[]> {
    const found = await Promise.all(this.#tails.map((tail) => tail.read()));
    // Times have one width, so that their texts have their order. The sort keeps the order of equal times.
    return found.flat().toSorted((a, b) => compare(a.text.slice(0, TIME_CHARS), b.text.slice(0, TIME_CHARS)));
  }
}

const TIME_CHARS = "2026-11-19T04:10:16.123Z".length;

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

class FileTail {
  readonly #component: LogComponent;
  readonly #path: string;
  readonly #loop: Loop;
  /** Identity of the file, which changes with a rotation. */
  #inode = -1;
  #offset = 0;

  constructor(component: LogComponent, { dataDir, loop }: { readonly dataDir: string; readonly loop: Loop }) {
    this.#component = component;
    this.#path = componentLogFile(dataDir, component);
    this.#loop = loop;
  }

  async read(): Promise<readonly LogRecord[]> {
    const text = await this.#loop.outside("file", this.#readNew());
    const lines = text.split("\n").slice(0, -1);
    const records: string[] = [];
    for (const line of lines) {
      if (/^\d{4}-/.test(line) || records.length === 0) records.push(line);
      else records.push(`${records.pop() ?? ""}\n${line}`);
    }
    return records.map((record) => ({ component: this.#component, text: record }));
  }

  /** Whole lines that were added. */
  async #readNew(): Promise<string> {
    const found = await stat(this.#path).catch(() => undefined);
    if (found === undefined) return "";
    if (found.ino !== this.#inode || found.size < this.#offset) {
      this.#inode = found.ino;
      this.#offset = 0;
    }
    const length = Math.min(found.size - this.#offset, BYTES_MAX);
    if (length === 0) return "";
    const file = await open(this.#path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, this.#offset);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
      this.#offset += end;
      return buffer.toString("utf8", 0, end);
    } finally {
      await file.close();
    }
  }
}
