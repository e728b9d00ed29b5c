/** Turns lines of a log file into the text that a client asked for. */
import type { LogView } from "../runtime-handler.ts";
import type { LogLine } from "./log-line.ts";

/** Undefined for a line that is not shown. */
export type LineParser = (line: Buffer) => LogLine | undefined;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const FULL = 0x46;
const PARTIAL = 0x50;
/** Offsets in `2026-11-19T04:10:17.123000000Z stdout F text`, as `stampOutput` writes it. */
const STREAM_OFFSET = 31;
const TAG_OFFSET = 38;
const TEXT_OFFSET = 40;
/** Both names of streams begin with it. */
const STREAM_START = 0x73;
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
    const text = this.#isPlain ? this.#takePlain(block) : this.#takeParsed(block);
    const shown = text.length > this.#leftBytes ? text.subarray(0, this.#leftBytes) : text;
    this.#leftBytes -= shown.length;
    return shown;
  }

  get #isPlain(): boolean {
    const { sinceMs, stream, timestamps } = this.#view;
    return sinceMs === undefined && stream === "All" && !timestamps;
  }

  /** All text of lines in the layout of our own writer is copied at fixed offsets; a block with another line is parsed. */
  #takePlain(block: Buffer): Buffer {
    const text = Buffer.allocUnsafe(block.length);
    let length = 0;
    let isMidLine = this.#isMidLine;
    for (let start = 0; start < block.length;) {
      const newline = block.indexOf(NEWLINE, start);
      if (newline < start + TEXT_OFFSET || !hasOwnLayout(block, start)) return this.#takeParsed(block);
      isMidLine = block[start + TAG_OFFSET] === PARTIAL;
      length += block.copy(text, length, start + TEXT_OFFSET, isMidLine ? newline : newline + 1);
      start = newline + 1;
    }
    this.#isMidLine = isMidLine;
    return text.subarray(0, length);
  }

  #takeParsed(block: Buffer): Buffer {
    const pieces: Buffer[] = [];
    for (let start = 0; start < block.length;) {
      const newline = block.indexOf(NEWLINE, start);
      const end = newline < 0 ? block.length : newline;
      const line = this.#parse(block.subarray(start, end));
      if (line !== undefined && this.#isWanted(line)) pieces.push(...this.#format(line));
      start = end + 1;
    }
    return Buffer.concat(pieces);
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

function hasOwnLayout(block: Buffer, start: number): boolean {
  const tag = block[start + TAG_OFFSET];
  return (
    block[start + STREAM_OFFSET - 1] === SPACE &&
    block[start + STREAM_OFFSET] === STREAM_START &&
    block[start + TAG_OFFSET - 1] === SPACE &&
    (tag === FULL || tag === PARTIAL) &&
    block[start + TEXT_OFFSET - 1] === SPACE
  );
}
