/** Draws the controllers as a table with colours. Pure. */
import type { LoopFigures } from "../../insight/loops/loop-figures.ts";
import { FIGHTS_TITLE, fightTexts, LOOP_HEADS, loopCells } from "../../insight/loops/loops-text.ts";
import { fitText, wrapLines } from "../../insight/text/text-width.ts";
import { counted } from "../count-text.ts";
import { Frame, type ScreenSize, type Span } from "../terminal/frame.ts";
import type { Style } from "../terminal/style.ts";
import type { LoopsReading } from "./loops-reading.ts";

export interface LoopsPicture {
  readonly reading: LoopsReading;
  /** Latest passes a second of each controller, the newest last. */
  readonly history: ReadonlyMap<string, readonly number[]>;
  readonly firstRow: number;
}

const BARS = "▁▂▃▄▅▆▇█";
/** Columns of the longest name of a built-in controller, of each figure below `LOOP_HEADS`, and of the latest passes. */
const NAME = 39;
const FIGURES: readonly number[] = [7, 9, 10, 10, 10, 11, 9, 5];
const LATEST = 16;
/** Lines of fights that are shown at most. */
const FIGHTS_MAX = 8;

export function drawLoops(size: ScreenSize, picture: LoopsPicture): Frame {
  const { reading, firstRow, history } = picture;
  const frame = new Frame(size);
  frame.putSpans({ x: 0, y: 0 }, statusSpans(reading));
  const columns = columnsOf(size);
  drawRow(frame, 1, { cells: LOOP_HEADS, columns, styles: () => "dim" });
  const rows = tableRows(size, reading);
  for (const [at, loop] of reading.loops.slice(firstRow, firstRow + rows).entries()) {
    const y = 2 + at;
    const end = drawRow(frame, y, { cells: loopCells(loop), columns, styles: stylesOf(loop) });
    frame.put({ x: end + 2, y }, barsOf(history.get(loop.controller) ?? []), "accent");
  }
  drawFights(frame, fightLines(reading, size));
  drawFooter(frame, reading);
  return frame;
}

/** Controllers that fit on the screen. */
export function tableRows(size: ScreenSize, reading: LoopsReading): number {
  const fights = fightLines(reading, size).length;
  return Math.max(1, size.rows - 3 - (fights === 0 ? 0 : fights + 2));
}

/** Widths of the name and of the figures that fit: narrow screens show the first ones. */
function columnsOf({ columns }: ScreenSize): readonly number[] {
  const name = Math.min(NAME, Math.max(16, Math.floor(columns / 3)));
  const widths = [name];
  let left = columns - name;
  for (const width of FIGURES) {
    left -= width;
    if (left < 0) break;
    widths.push(width);
  }
  return widths;
}

function statusSpans({ loops, trouble }: LoopsReading): readonly Span[] {
  let [passes, errors] = [0, 0];
  for (const loop of loops) {
    passes += loop.passesPerSecond;
    errors += loop.errorsPerSecond;
  }
  return [
    ["● ", trouble === undefined && loops.length > 0 ? "good" : "waiting"],
    ["loops", "bright bold"],
    [`  ${counted(loops.length, "controller")}  `, "plain"],
    [`${passes.toFixed(1)} passes/s  `, passes > 0 ? "plain" : "dim"],
    [`${errors.toFixed(1)} errors/s`, errors > 0 ? "bad bold" : "dim"],
  ];
}

interface Row {
  readonly cells: readonly string[];
  readonly columns: readonly number[];
  readonly styles: (column: number) => Style;
}

/** The name at the left, figures aligned at their right. Returns the column behind the last. */
function drawRow(frame: Frame, y: number, { cells, columns, styles }: Row): number {
  let x = 0;
  for (const [at, width] of columns.entries()) {
    const text = fitText(cells[at] ?? "", width - 1);
    frame.put({ x, y }, at === 0 ? text : text.padStart(width), styles(at));
    x += width;
  }
  return x;
}

/** Zeros are faint, so that the eye finds the rest; trouble stands out. */
function stylesOf(loop: LoopFigures): (column: number) => Style {
  const { passesPerSecond, queued, delayed, errorsPerSecond, oldestSeconds, hotLoops } = loop;
  const ofNumber = (value: number, style: Style): Style => (value > 0 ? style : "faint");
  const styles: readonly Style[] = [
    passesPerSecond + queued > 0 ? "bright bold" : "dim",
    ofNumber(queued, "waiting"),
    ofNumber(loop.inWork, "plain"),
    ofNumber(delayed, "waiting"),
    ofNumber(passesPerSecond, "good"),
    ofNumber(errorsPerSecond, "bad bold"),
    ofNumber(loop.p99Seconds ?? 0, "plain"),
    ofNumber(oldestSeconds, oldestSeconds >= 1 ? "waiting" : "plain"),
    ofNumber(hotLoops, "bad bold"),
  ];
  return (column) => styles[column] ?? "plain";
}

function barsOf(passes: readonly number[]): string {
  const most = Math.max(1, ...passes);
  const bars = passes.map(
    (value) => BARS[Math.min(BARS.length - 1, Math.floor((value / most) * BARS.length))],
  );
  return bars.join("").padStart(LATEST);
}

function fightLines({ fights }: LoopsReading, { columns, rows }: ScreenSize): readonly string[] {
  const lines = wrapLines(fightTexts(fights), columns - 2);
  return lines.slice(0, Math.min(FIGHTS_MAX, Math.floor(rows / 3)));
}

function drawFights(frame: Frame, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const y = frame.rows - 2 - lines.length;
  frame.put({ x: 0, y }, "─".repeat(frame.columns), "bad");
  frame.put({ x: 2, y }, ` ${FIGHTS_TITLE} `, "bad bold");
  for (const [at, line] of lines.entries()) frame.put({ x: 1, y: y + 1 + at }, line, "waiting");
}

function drawFooter(frame: Frame, { loops, trouble }: LoopsReading): void {
  const at = { x: 1, y: frame.rows - 1 };
  if (trouble !== undefined)
    frame.put(at, fitText(`trying again: ${trouble}`, frame.columns - 2), "bad bold");
  else if (loops.length === 0) frame.put(at, "reading the metrics …", "dim");
  else
    frame.putSpans(at, [
      ["q", "accent bold"],
      [" quit  ", "dim"],
      ["↑ ↓", "accent bold"],
      [" scroll  ", "dim"],
      ["setpoint why KIND/NAME", "accent"],
      [" explains an object", "dim"],
    ]);
}
