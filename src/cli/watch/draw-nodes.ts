import { padText, textWidth } from "../../insight/text/text-width.ts";
/** Draws the nodes with their pods, in each form. Pure. */
import { grouped } from "../count-text.ts";
import type { Frame, Span } from "../terminal/frame.ts";
import type { Tone } from "../terminal/style.ts";
import { drawBorder, drawTitle } from "./draw-border.ts";
import type { Grid } from "./layout.ts";
import type { NodeBox, PodEntry } from "./node-box.ts";
import type { Picture } from "./picture.ts";
import { cellOf, phaseGlyph, worstPhase } from "./pod-marks.ts";
import { PHASE_LOOKS, type PodPhase } from "./pod-phase.ts";
import type { PodCell } from "./watched-objects.ts";

/** Narrower lists show names only. */
const STATUS_FROM = 30;

/** Draws the boxes that the screen shows. */
export function drawNodes(frame: Frame, picture: Picture): void {
  const { grid } = picture.layout;
  const painter = new NodePainter(frame, picture);
  const first = grid.firstRow * grid.columns;
  const shown = picture.model.boxesFrom(first, grid.visibleRows * grid.columns);
  for (const [at, box] of shown.entries())
    painter.draw(box, {
      x: (at % grid.columns) * grid.boxWidth,
      y: grid.y + Math.floor(at / grid.columns) * grid.boxHeight,
    });
}

interface Corner {
  readonly x: number;
  readonly y: number;
}

class NodePainter {
  readonly #frame: Frame;
  readonly #picture: Picture;
  readonly #grid: Grid;

  constructor(frame: Frame, picture: Picture) {
    this.#frame = frame;
    this.#picture = picture;
    this.#grid = picture.layout.grid;
  }

  draw(box: NodeBox, corner: Corner): void {
    if (this.#grid.form === "dot") this.#drawDot(box, corner);
    else if (this.#grid.form === "line") this.#drawLine(box, corner);
    else this.#drawBox(box, corner);
  }

  #isSelected({ name }: NodeBox, place?: number): boolean {
    const { selection } = this.#picture.view;
    return selection.node === name && (place === undefined || selection.place === place);
  }

  #drawBox(box: NodeBox, { x, y }: Corner): void {
    const { boxWidth, boxHeight, columns, capacity } = this.#grid;
    const width = boxWidth - (columns > 1 ? 1 : 0);
    const rect = { x, y, width, height: boxHeight };
    const problem = problemOf(box);
    drawBorder(this.#frame, rect, problem?.[1] ?? (this.#isSelected(box) ? "accent" : "faint"));
    drawTitle(this.#frame, rect, {
      name: [box.name, this.#isSelected(box, -1) ? "accent selected" : "bright bold"],
      ...(problem !== undefined && { problem }),
      figure: [readyText(box), "dim"],
    });
    for (let row = 0; row < boxHeight - 2; row++) this.#drawRow(box, row, { x: x + 2, y: y + 1 + row });
    const hidden = box.pods - Math.min(box.pods, capacity);
    const more = ` +${grouped(hidden)} `;
    if (hidden > 0)
      this.#frame.put({ x: x + width - 1 - textWidth(more), y: y + boxHeight - 1 }, more, "waiting");
  }

  #drawRow(box: NodeBox, row: number, { x, y }: Corner): void {
    const { perRow, form } = this.#grid;
    for (let column = 0; column < perRow; column++) {
      const place = row * perRow + column;
      this.#drawCell(box, place, { x: x + column * 2, y });
      const entry = box.at(place);
      if (form === "list" && entry?.isGhost === false)
        this.#drawName(entry, { x: x + 2, y }, this.#isSelected(box, place));
    }
  }

  #drawCell(box: NodeBox, place: number, at: Corner): void {
    const entry = box.at(place);
    const isSelected = this.#isSelected(box, place);
    if (entry === undefined && !isSelected) return;
    const [glyph, style]: Span = entry === undefined ? [" ", "plain"] : cellOf(entry, this.#picture.around);
    this.#frame.put(at, glyph, isSelected ? "bright selected" : style);
  }

  #drawName({ shown, isMatch }: PodEntry, { x, y }: Corner, isSelected: boolean): void {
    const { boxWidth, columns } = this.#grid;
    const width = boxWidth - (columns > 1 ? 1 : 0) - 6;
    const status = width >= STATUS_FROM ? statusText(shown) : "";
    const name = padText(shown.name, width - (status === "" ? 0 : textWidth(status) + 1));
    this.#frame.put({ x, y }, name, isSelected ? "bright selected" : isMatch ? "plain" : "faint");
    const tone = shown.phase === "ready" ? "dim" : PHASE_LOOKS[shown.phase].tone;
    this.#frame.put({ x: x + width - textWidth(status), y }, status, isMatch ? tone : "faint");
  }

  #drawLine(box: NodeBox, { x, y }: Corner): void {
    const { boxWidth, perRow, capacity } = this.#grid;
    const nameWidth = boxWidth - perRow - 3;
    const named = problemOf(box)?.[1] ?? "plain";
    this.#frame.put(
      { x, y },
      padText(box.name, nameWidth),
      this.#isSelected(box, -1) ? "accent selected" : named,
    );
    const cells = Math.min(box.length, capacity);
    for (let place = 0; place < cells; place++)
      this.#drawCell(box, place, { x: x + nameWidth + 1 + place, y });
    if (box.pods > cells) this.#frame.put({ x: x + nameWidth + 1 + cells, y }, "…", "waiting");
  }

  /** One character for a node: its own trouble, or the phase of its pods that needs attention first. */
  #drawDot(box: NodeBox, at: Corner): void {
    const [glyph, tone] = this.#dotOf(box);
    this.#frame.put(at, glyph, this.#isSelected(box) ? "bright selected" : tone);
  }

  #dotOf(box: NodeBox): readonly [glyph: string, tone: Tone] {
    if (box.node?.isReady !== true || box.node.isDown) return ["▼", "bad"];
    const phase = worstPhase(box.counts);
    if (phase === undefined) return ["·", "faint"];
    return [phaseGlyph(phase, this.#picture.around.glyphs), PHASE_LOOKS[phase].tone];
  }
}

/** Trouble of the node itself. */
function problemOf({ node }: NodeBox): Span | undefined {
  if (node === undefined) return ["no such node", "bad"];
  if (node.isDown) return [node.isReady ? "power off" : "power off, not ready", "bad"];
  if (!node.isReady) return ["not ready", "bad"];
  return node.isCordoned ? ["cordoned", "waiting"] : undefined;
}

/** Ready pods of those that should be. */
function readyText({ pods, counts }: NodeBox): string {
  return pods === 0 ? "empty" : `${grouped(counts.ready)}/${grouped(pods - counts.done)}`;
}

function statusText({ phase, status, restarts }: PodCell): string {
  const hasReason: readonly PodPhase[] = ["failing", "failed"];
  const text = hasReason.includes(phase) ? status : PHASE_LOOKS[phase].word;
  return restarts > 0 && phase !== "ending" ? `${text} ×${String(restarts)}` : text;
}
