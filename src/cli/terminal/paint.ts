import { textWidth } from "../../insight/text/text-width.ts";
/** Turns frames into bytes for a terminal: only what differs from the frame before. Pure. */
import type { Frame } from "./frame.ts";
import { styleCode, type ColourDepth, type Style } from "./style.ts";

/** Terminals that know these show the changes at once; others ignore them. */
const BEGIN = "\u001B[?2026h";
const END = "\u001B[0m\u001B[?2026l";
const CLEAR = "\u001B[0m\u001B[2J";

/** Equal cells between two changes that are written again: shorter than a move of the cursor. */
const GAP_MAX = 4;

/** Empty when nothing differs. Without a frame before, the terminal is cleared first. */
export function paint(before: Frame | undefined, after: Frame, depth: ColourDepth): string {
  const isNew = before === undefined || before.columns !== after.columns || before.rows !== after.rows;
  const pen = new Pen(depth);
  for (let y = 0; y < after.rows; y++)
    for (const run of changedRuns(isNew ? undefined : before, after, y)) {
      pen.moveTo(run.from, y);
      pen.write(after, y, run);
    }
  if (pen.text === "" && !isNew) return "";
  return `${BEGIN}${isNew ? CLEAR : ""}${pen.text}${END}`;
}

/** The frame as lines of styled text, for output that is no terminal screen. */
export function printFrame(frame: Frame, depth: ColourDepth): string {
  const text = frame.text();
  if (depth === "none") return text;
  const pen = new Pen(depth);
  for (const [y, line] of text.split("\n").slice(0, -1).entries()) {
    pen.write(frame, y, { from: 0, to: textWidth(line) });
    pen.endLine();
  }
  return pen.text;
}

/** Columns of a row; `to` is the first column behind. */
interface Run {
  readonly from: number;
  readonly to: number;
}

class Pen {
  text = "";
  readonly #depth: ColourDepth;
  #style: Style | undefined;

  constructor(depth: ColourDepth) {
    this.#depth = depth;
  }

  moveTo(x: number, y: number): void {
    this.text += `\u001B[${String(y + 1)};${String(x + 1)}H`;
  }

  endLine(): void {
    this.text += "\u001B[0m\n";
    this.#style = undefined;
  }

  write(frame: Frame, y: number, { from, to }: Run): void {
    for (let at = y * frame.columns + from; at < y * frame.columns + to; at++) {
      const style = frame.styles[at] ?? "plain";
      if (style !== this.#style) this.text += styleCode(style, this.#depth);
      this.#style = style;
      this.text += frame.chars[at] ?? " ";
    }
  }
}

function changedRuns(before: Frame | undefined, after: Frame, y: number): readonly Run[] {
  const runs: { from: number; to: number }[] = [];
  const start = y * after.columns;
  for (let x = 0; x < after.columns; x++) {
    if (isEqual(before, after, start + x)) continue;
    // A character of two columns is written as a whole.
    const from = after.chars[start + x] === "" ? Math.max(0, x - 1) : x;
    const to = after.chars[start + x + 1] === "" && x + 1 < after.columns ? x + 2 : x + 1;
    const last = runs.at(-1);
    if (last !== undefined && from - last.to <= GAP_MAX) last.to = Math.max(last.to, to);
    else runs.push({ from, to });
  }
  return runs;
}

/** A cleared terminal has blanks everywhere. */
function isEqual(before: Frame | undefined, after: Frame, at: number): boolean {
  const [char, style] = before === undefined ? [" ", "plain"] : [before.chars[at], before.styles[at]];
  return after.chars[at] === char && after.styles[at] === style;
}
