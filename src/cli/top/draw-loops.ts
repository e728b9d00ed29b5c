/** Draws the controllers as a table with colours. Pure. */
import type { LoopFigures } from "../../insight/loops/loop-figures.ts";
import { FIGHTS_TITLE, fightTexts, LOOP_HEADS, loopCells } from "../../insight/loops/loops-text.ts";
import { counted } from "../count-text.ts";
import { Frame, type ScreenSize, type Span } from "../terminal/frame.ts";
import type { Style } from "../terminal/style.ts";
import { fitText, padText, wrapLines } from "../terminal/text-width.ts";
import type { LoopsReading } from "./loops-reading.ts";

export interface LoopsPicture {
  readonly reading: LoopsReading;
  /** Latest passes a second of each controller, the newest last. */
  readonly history: ReadonlyMap<string, readonly number[]>;
  readonly firstRow: number;
}

const BARS = "▁▂▃▄▅▆▇█";
/** Columns of the name, of each figure and of the line of passes. */
const NAME = 28;
const FIGURE = 10;
const LINE = 16;
/** Lines of fights that are shown at most. */
const FIGHTS_MAX = 8;

export function drawLoops(size: ScreenSize, picture: LoopsPicture): Frame {
  const { reading, firstRow, history } = picture;
  const frame = new Frame(size);
  frame.putSpans({ x: 0, y: 0 }, statusSpans(reading));
  const figures = figureCount(size);
  drawRow(frame, 1, { cells: LOOP_HEADS.slice(0, figures + 1), styles: () => "dim" });
  const rows = tableRows(size, reading);
  for (const [at, loop] of reading.loops.slice(firstRow, firstRow + rows).entries()) {
    drawRow(frame, 2 + at, { cells: loopCells(loop).slice(0, figures + 1), styles: stylesOf(loop) });
    const x = NAME + figures * FIGURE + 2;
    frame.put({ x, y: 2 + at }, barsOf(history.get(loop.controller) ?? []), "accent");
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

/** The last figures are left out where the screen is narrow. */
function figureCount({ columns }: ScreenSize): number {
  const room = Math.floor((columns - NAME) / FIGURE);
  return Math.max(1, Math.min(LOOP_HEADS.length - 1, room));
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
  readonly styles: (column: number) => Style;
}

/** The name at the left, figures aligned at their right. */
function drawRow(frame: Frame, y: number, { cells: [name = "", ...figures], styles }: Row): void {
  frame.put({ x: 0, y }, padText(name, NAME - 1), styles(0));
  for (const [at, figure] of figures.entries())
    frame.put({ x: NAME + at * FIGURE, y }, fitText(figure, FIGURE - 1).padStart(FIGURE - 1), styles(at + 1));
}

/** Idle controllers are dim; trouble stands out. */
function stylesOf(loop: LoopFigures): (column: number) => Style {
  const isIdle = loop.passesPerSecond === 0 && loop.queued === 0;
  const plain: Style = isIdle ? "dim" : "plain";
  const styles: readonly Style[] = [
    isIdle ? "plain" : "bright bold",
    loop.queued > 0 ? "waiting" : plain,
    plain,
    loop.delayed > 0 ? "waiting" : plain,
    plain,
    loop.errorsPerSecond > 0 ? "bad bold" : plain,
    plain,
    loop.oldestSeconds >= 1 ? "waiting" : plain,
    loop.hotLoops > 0 ? "bad bold" : plain,
  ];
  return (column) => styles[column] ?? plain;
}

function barsOf(passes: readonly number[]): string {
  const most = Math.max(1, ...passes);
  const bars = passes.map(
    (value) => BARS[Math.min(BARS.length - 1, Math.floor((value / most) * BARS.length))],
  );
  return bars.join("").padStart(LINE);
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
