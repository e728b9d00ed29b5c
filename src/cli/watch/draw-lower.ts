import { fitText, padText, textWidth, wrapLines } from "../../insight/text/text-width.ts";
/** Draws the lower pane: the Events, or a panel with text. Pure. */
import { grouped } from "../count-text.ts";
import type { Frame } from "../terminal/frame.ts";
import type { Style } from "../terminal/style.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Grid, Layout, Rows } from "./layout.ts";
import type { Picture } from "./picture.ts";
import type { Panel, View } from "./view.ts";
import type { EventLine } from "./watched-objects.ts";

export function drawLower(frame: Frame, { model, view, layout }: Picture): void {
  const { lower } = layout;
  if (lower.height === 0) return;
  const { panel, pane } = view;
  drawRule(frame, lower.y, {
    title: panel?.title ?? "events",
    style: pane === "events" || panel !== undefined ? "accent" : "faint",
    right: scrollText(model, view, layout),
  });
  if (panel === undefined) drawEvents(frame, lower, { model, view });
  else drawPanel(frame, lower, panel);
}

/** The first line of an explanation, and each heading, is not indented. */
function drawPanel(frame: Frame, { y, height }: Rows, { lines, firstLine }: Panel): void {
  const wrapped = wrapLines(lines, frame.columns - 2);
  for (const [at, line] of wrapped.slice(firstLine, firstLine + height - 1).entries()) {
    const style: Style = /^(?!note: )\S/.test(line) ? "bright bold" : "plain";
    frame.put({ x: 1, y: y + 1 + at }, line, style);
  }
}

function drawEvents(
  frame: Frame,
  { y, height }: Rows,
  { model, view }: Pick<Picture, "model" | "view">,
): void {
  const shown = height - 1;
  const first = Math.max(0, Math.min(view.event - shown + 1, model.eventCount - shown));
  for (const [at, line] of model
    .events(first + shown)
    .slice(first)
    .entries())
    drawEvent(frame, y + 1 + at, { line, isSelected: view.pane === "events" && first + at === view.event });
}

/** The part of the nodes that the screen shows; empty when it shows all. */
function hiddenText(boxes: number, { rows, visibleRows, firstRow, columns }: Grid): string {
  if (rows <= visibleRows) return "";
  const first = firstRow * columns + 1;
  const last = Math.min(boxes, first - 1 + visibleRows * columns);
  return `nodes ${grouped(first)} to ${grouped(last)} of ${grouped(boxes)}: PgDn`;
}

interface Rule {
  readonly title: string;
  readonly style: Style;
  readonly right: string;
}

function drawRule(frame: Frame, y: number, { title, style, right }: Rule): void {
  frame.put({ x: 0, y }, "─".repeat(frame.columns), style);
  frame.put({ x: 2, y }, ` ${fitText(title, frame.columns - 20)} `, "bright bold");
  if (right !== "") frame.put({ x: frame.columns - textWidth(right) - 4, y }, ` ${right} `, "dim");
}

function scrollText(
  { eventCount, boxes }: ClusterModel,
  { panel, pane, event }: View,
  { lower, size, grid }: Layout,
): string {
  if (panel === undefined && pane === "events") return `${String(event + 1)} of ${String(eventCount)}`;
  if (panel === undefined) return hiddenText(boxes.length, grid);
  const below = wrapLines(panel.lines, size.columns - 2).length - panel.firstLine - (lower.height - 1);
  return below > 0 ? `${String(below)} more lines: PgDn` : "Esc closes";
}

function drawEvent(
  frame: Frame,
  y: number,
  { line, isSelected }: { readonly line: EventLine; readonly isSelected: boolean },
): void {
  const { at, isWarning, reason, kind, name, message, count } = line;
  const time = Number.isNaN(at) ? "" : new Date(at).toISOString().slice(11, 19);
  const times = count > 1 ? ` ×${String(count)}` : "";
  const object = padText(`${kind} ${name}${times}`, Math.max(16, Math.floor((frame.columns - 40) * 0.45)));
  const end = frame.putSpans({ x: 1, y }, [
    [time, isSelected ? "accent selected" : "dim"],
    ["  ", "plain"],
    [reason.padEnd(18), isWarning ? "waiting" : "plain"],
    [object, "accent"],
    ["  ", "plain"],
  ]);
  frame.put({ x: end, y }, fitText(message, frame.columns - end - 1), isWarning ? "waiting" : "dim");
}
