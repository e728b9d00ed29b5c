/** Sizes of the client's terminal, sent as JSON objects one after the other. */
import { Transform } from "node:stream";

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** A longer text without an end is not a size. */
const TEXT_CHARS_MAX = 1024;
const SIDE_MAX = 0xff_ff;

export function terminalSizeText({ width, height }: TerminalSize): string {
  return `${JSON.stringify({ Width: width, Height: height })}\n`;
}

/** Reads bytes, gives TerminalSize objects. Text that is not a size is skipped. */
export class TerminalSizes extends Transform {
  #rest = "";

  constructor() {
    super({ readableObjectMode: true });
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    const texts = (this.#rest + chunk.toString("latin1")).split("}");
    this.#rest = (texts.pop() ?? "").slice(-TEXT_CHARS_MAX);
    for (const text of texts) {
      const size = sizeIn(`${text.slice(-TEXT_CHARS_MAX)}}`);
      if (size !== undefined) this.push(size);
    }
    done();
  }
}

function sizeIn(text: string): TerminalSize | undefined {
  const width = Number(/"Width":\s*(\d+)/.exec(text)?.[1]);
  const height = Number(/"Height":\s*(\d+)/.exec(text)?.[1]);
  return isSide(width) && isSide(height) ? { width, height } : undefined;
}

function isSide(length: number): boolean {
  return Number.isInteger(length) && length > 0 && length <= SIDE_MAX;
}
