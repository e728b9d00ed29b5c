import { fitText, textWidth } from "../../insight/text/text-width.ts";
/** Draws the whole screen from the cluster, the view and the layout. Pure. */
import { grouped } from "../count-text.ts";
import { Frame, type ScreenSize } from "../terminal/frame.ts";
import type { Style } from "../terminal/style.ts";
import type { ClusterModel } from "./cluster-model.ts";
import { describeSelection } from "./describe-selection.ts";
import { drawBorder, drawTitle } from "./draw-border.ts";
import { drawLower } from "./draw-lower.ts";
import { drawNodes } from "./draw-nodes.ts";
import { drawStatus } from "./draw-status.ts";
import { planLayout, SMALLEST, type Layout } from "./layout.ts";
import type { Picture } from "./picture.ts";
import { asciiChar, cellOf } from "./pod-marks.ts";
import { unscheduledCells } from "./selection.ts";
import type { View } from "./view.ts";

export function layOut(model: ClusterModel, view: View, size: ScreenSize): Layout {
  const { boxes } = model;
  const { node } = view.selection;
  return planLayout(
    size,
    {
      boxes: boxes.length,
      places: model.places,
      nameWidth: Math.max(textWidth(boxes[0]?.name ?? ""), textWidth(boxes.at(-1)?.name ?? "")),
    },
    {
      form: view.form,
      hasPanel: view.panel !== undefined,
      selected: node === undefined ? 0 : model.indexOf(node),
      firstRow: view.firstRow,
    },
  );
}

export function drawWatch(picture: Picture): Frame {
  const { layout, around } = picture;
  const frame = new Frame(layout.size);
  if (isTooSmall(layout.size)) drawTooSmall(frame);
  else {
    drawStatus(frame, picture);
    drawUnscheduled(frame, picture);
    drawGrid(frame, picture);
    drawLower(frame, picture);
    drawFooter(frame, picture);
  }
  if (around.glyphs === "ascii") frame.replace(asciiChar);
  return frame;
}

function isTooSmall({ columns, rows }: ScreenSize): boolean {
  return columns < SMALLEST.columns || rows < SMALLEST.rows;
}

function drawTooSmall(frame: Frame): void {
  const { columns, rows } = frame;
  const needed = `${String(SMALLEST.columns)}×${String(SMALLEST.rows)}`;
  const lines = [`needs ${needed},`, `has ${String(columns)}×${String(rows)}`, "q quits"];
  for (const [y, line] of lines.entries()) frame.put({ x: 0, y }, fitText(line, columns), "waiting");
}

function drawUnscheduled(frame: Frame, picture: Picture): void {
  const { model, view, layout, around } = picture;
  const { y, height } = layout.unscheduled;
  const { unscheduled: box } = model;
  const isBoxed = height === 3;
  if (isBoxed) drawUnscheduledBox(frame, picture);
  else frame.put({ x: 0, y }, "│", box.pods > 0 ? "waiting" : "faint");
  const selected = view.selection.node === "" ? view.selection.place : undefined;
  for (let place = 0; place < Math.min(unscheduledCells(layout), box.length); place++) {
    const entry = box.at(place);
    if (entry === undefined) continue;
    const [glyph, style] = cellOf(entry, around);
    const at = { x: 2 + place * 2, y: isBoxed ? y + 1 : y };
    frame.put(at, glyph, selected === place ? "bright selected" : style);
  }
}

function drawUnscheduledBox(frame: Frame, { model: { unscheduled }, view, layout }: Picture): void {
  const { pods, length } = unscheduled;
  const rect = { x: 0, width: frame.columns, ...layout.unscheduled };
  const border: Style = pods > 0 ? "waiting" : "faint";
  drawBorder(frame, rect, view.selection.node === "" ? "accent" : border);
  drawTitle(frame, rect, {
    name: ["unscheduled", pods > 0 ? "waiting bold" : "dim"],
    figure: [pods === 0 ? "none" : grouped(pods), "dim"],
  });
  const hint = "pods appear here until the scheduler has chosen a node";
  if (length === 0) frame.put({ x: 2, y: rect.y + 1 }, fitText(hint, frame.columns - 4), "faint");
}

function drawGrid(frame: Frame, picture: Picture): void {
  const { model, layout } = picture;
  const { grid } = layout;
  drawNodes(frame, picture);
  const hint = emptyText(picture);
  if (hint === undefined) return;
  const y = model.boxes.length === 0 ? grid.y : grid.y + grid.boxHeight + 1;
  if (y < grid.y + grid.height) frame.put({ x: 2, y }, fitText(hint, frame.columns - 4), "dim");
}

/** Why there is nothing to see. */
function emptyText({ model, view, around }: Picture): string | undefined {
  if (!around.hasSynced) return "reading the cluster …";
  if (model.boxes.length === 0) return view.filter === "" ? "no nodes" : "no pod matches the filter";
  return model.pods === 0
    ? "no pods yet: kubectl create deployment demo --image=nginx --replicas=9"
    : undefined;
}

const KEYS: readonly (readonly [key: string, effect: string])[] = [
  ["q", "quit"],
  ["?", "help"],
  ["k", "kill"],
  ["w", "why"],
  ["f", "fail node"],
  ["+/-", "scale"],
  ["/", "filter"],
  ["z", "zoom"],
  ["Tab", "events"],
];

function drawFooter(frame: Frame, picture: Picture): void {
  const { layout, view, around } = picture;
  const { columns } = frame;
  if (layout.detailY !== undefined)
    frame.putSpans({ x: 1, y: layout.detailY }, describeSelection(picture, columns - 2));
  const at = { x: 1, y: layout.footerY };
  const { prompt, message } = view;
  if (prompt?.type === "filter")
    frame.putSpans(at, [
      ["filter ", "accent bold"],
      [fitText(prompt.text, columns - 44), "bright"],
      [" ", "accent selected"],
      ["  a name or label=value · Enter, Esc", "dim"],
    ]);
  else if (prompt?.type === "confirm")
    frame.putSpans(at, [
      [fitText(prompt.question, columns - 22), "waiting bold"],
      ["  y yes · any other no", "dim"],
    ]);
  else if (message !== undefined)
    frame.put(at, fitText(message.text, columns - 2), message.isError ? "bad bold" : "good");
  else if (around.trouble !== undefined) frame.put(at, fitText(around.trouble, columns - 2), "waiting bold");
  else drawKeys(frame, at.y, view);
}

function drawKeys(frame: Frame, y: number, view: View): void {
  let x = 1;
  const filter = view.filter === "" ? [] : ([[`filter: ${view.filter}`, "Esc clears"]] as const);
  for (const [key, effect] of [...filter, ...KEYS]) {
    const width = key.length + effect.length + 3;
    if (x + width > frame.columns) return;
    x = frame.putSpans({ x, y }, [
      [key, "accent bold"],
      [` ${effect}  `, "dim"],
    ]);
  }
}
