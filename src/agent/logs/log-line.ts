/**
 * Lines of a container's log file, in the format of the Container Runtime Interface:
 * `2026-11-19T04:10:17.123000000Z stdout F text`. The tag is `P` for a piece of a longer line, else `F`.
 */
import { dateTimeNanosText } from "../../base/date-text.ts";

export type OutputStream = "stdout" | "stderr";

/** A line of a log file, without its newline. */
export interface LogLine {
  /** As written. */
  readonly time: string;
  readonly stream: OutputStream;
  /** Whether the next line of this stream continues the text. */
  readonly isPartial: boolean;
  readonly text: Buffer;
}

/** Longest text of one line, as in other runtimes; a longer line becomes several. */
export const MAX_TEXT_BYTES = 16 * 1024;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const NEWLINE_BYTES = Buffer.from("\n");

/** Log lines made from raw output. */
export interface StampedOutput {
  readonly lines: readonly Buffer[];
  /** Bytes of the output that are in the lines; the rest is the start of a line. */
  readonly consumed: number;
}

/** `isLast`: no output follows, so that a rest without a newline is a line. */
export function stampOutput(
  output: Buffer,
  { stream, at, isLast }: { readonly stream: OutputStream; readonly at: number; readonly isLast: boolean },
): StampedOutput {
  const full = Buffer.from(`${dateTimeNanosText(at)} ${stream} F `);
  const partial = Buffer.from(`${dateTimeNanosText(at)} ${stream} P `);
  const lines: Buffer[] = [];
  let start = 0;
  while (start < output.length) {
    const newline = output.indexOf(NEWLINE, start);
    const end = newline < 0 ? output.length : newline;
    if (end - start > MAX_TEXT_BYTES) {
      lines.push(partial, output.subarray(start, start + MAX_TEXT_BYTES), NEWLINE_BYTES);
      start += MAX_TEXT_BYTES;
      continue;
    }
    if (newline < 0 && !isLast) break;
    lines.push(newline < 0 ? partial : full, output.subarray(start, end), NEWLINE_BYTES);
    start = newline < 0 ? end : end + 1;
  }
  return { lines, consumed: start };
}

/** Undefined for a line in another format. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(SPACE);
  const second = line.indexOf(SPACE, first + 1);
  if (first < 0 || second < 0) return undefined;
  const third = line.indexOf(SPACE, second + 1);
  const end = third < 0 ? line.length : third;
  const stream = line.toString("latin1", first + 1, second);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const [tag] = line.toString("latin1", second + 1, end).split(":");
  if (tag !== "F" && tag !== "P") return undefined;
  const text = third < 0 ? line.subarray(line.length) : line.subarray(third + 1);
  return { time: line.toString("latin1", 0, first), stream, isPartial: tag === "P", text };
}
