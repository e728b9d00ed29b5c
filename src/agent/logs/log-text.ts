/** Turns lines of a log file into the text that a client asked for. */
import type { LogQuery } from "../runtime-handler.ts";
import type { LogLine } from "./log-line.ts";

/** Which lines of one run to show, and how. */
export type LogView = Omit<LogQuery, "previous">;

/** Undefined for a line that is not shown. */
export type LineParser = (line: Buffer) => LogLine | undefined;

const NEWLINE = 0x0a;
const NEWLINE_BYTES = Buffer.from("\n");

export class LogText {
  readonly #view: LogView;
  readonly #parse: LineParser;
  #leftBytes: number;
  /** Whether the last line shown is a piece that the next one continues. */
  #isMidLine = false;

  constructor(view: LogView, parse: LineParser) {
    this.#view = view;
    this.#parse = parse;
    this.#leftBytes = view.limitBytes ?? Infinity;
  }

  /** Whether the limit of bytes is reached. */
  get isFull(): boolean {
    return this.#leftBytes <= 0;
  }

  /** `block` ends with a newline. */
  take(block: Buffer): Buffer {
    const pieces: Buffer[] = [];
    for (let start = 0; start < block.length;) {
      const newline = block.indexOf(NEWLINE, start);
      const end = newline < 0 ? block.length : newline;
      const line = this.#parse(block.subarray(start, end));
      if (line !== undefined && this.#isWanted(line)) pieces.push(...this.#format(line));
      start = end + 1;
    }
    const text = Buffer.concat(pieces);
    const shown = text.length > this.#leftBytes ? text.subarray(0, this.#leftBytes) : text;
    this.#leftBytes -= shown.length;
    return shown;
  }

  #isWanted({ stream, time }: LogLine): boolean {
    const { stream: wanted, sinceMs } = this.#view;
    if (wanted !== "All" && wanted.toLowerCase() !== stream) return false;
    return sinceMs === undefined || Date.parse(time) >= sinceMs;
  }

  #format({ time, text, isPartial }: LogLine): readonly Buffer[] {
    const begins = !this.#isMidLine;
    this.#isMidLine = isPartial;
    const start = this.#view.timestamps && begins ? [Buffer.from(`${time} `)] : [];
    return isPartial ? [...start, text] : [...start, text, NEWLINE_BYTES];
  }
}
