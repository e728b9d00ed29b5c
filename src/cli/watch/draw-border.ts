import { fitText, textWidth } from "../../insight/text/text-width.ts";
/** Draws borders with titles. Pure. */
import type { Frame, Span } from "../terminal/frame.ts";
import type { Style } from "../terminal/style.ts";

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export function drawBorder(frame: Frame, { x, y, width, height }: Rect, style: Style): void {
  const line = "─".repeat(Math.max(0, width - 2));
  frame.put({ x, y }, `╭${line}╮`, style);
  for (let row = 1; row < height - 1; row++) {
    frame.put({ x, y: y + row }, "│", style);
    frame.put({ x: x + width - 1, y: y + row }, "│", style);
  }
  frame.put({ x, y: y + height - 1 }, `╰${line}╯`, style);
}

export interface Title {
  readonly name: Span;
  /** Shown behind the name. */
  readonly problem?: Span;
  /** Shown at the right end. */
  readonly figure: Span;
}

/** Writes into the upper border. What does not fit is left out. */
export function drawTitle(frame: Frame, { x, y, width }: Rect, { name, problem, figure }: Title): void {
  let end = x + 1;
  const put = (at: number, [text, style]: Span): number =>
    frame.putSpans({ x: at, y }, [[` ${text} `, style]]);
  const fits = ([text]: Span): boolean => end - x + textWidth(text) + 3 <= width;
  end = frame.putSpans({ x: end, y }, [
    [" ", "plain"],
    [fitText(name[0], width - 4), name[1]],
    [" ", "plain"],
  ]);
  const room = x + width - end - 2;
  if (problem !== undefined && room >= 4) end = put(end - 1, [fitText(problem[0], room), problem[1]]);
  if (fits(figure)) put(x + width - 3 - textWidth(figure[0]), figure);
}
