/**
 * Decides what is where: rows for each part of the screen, and a grid of equal boxes for the nodes. Pure. Its cost depends
 * on the size of the screen, not on that of the cluster.
 */
import type { ScreenSize } from "../terminal/frame.ts";

/** From a line for each pod to a character for each node. */
export const FORMS = ["list", "box", "line", "dot"] as const;
export type Form = (typeof FORMS)[number];

/** Smallest screen that shows anything useful. */
export const SMALLEST: ScreenSize = { columns: 40, rows: 10 };

export interface Rows {
  readonly y: number;
  readonly height: number;
}

/** Boxes of equal size, row by row. */
export interface Grid {
  readonly form: Form;
  readonly y: number;
  readonly height: number;
  readonly columns: number;
  readonly boxWidth: number;
  readonly boxHeight: number;
  /** Pods that a row of a box takes, and pods that a box takes. */
  readonly perRow: number;
  readonly capacity: number;
  /** Rows of boxes: all, those that fit on the screen, and the first that is shown. */
  readonly rows: number;
  readonly visibleRows: number;
  readonly firstRow: number;
}

export interface Layout {
  readonly size: ScreenSize;
  /** The box of pods without a node; undefined on low screens. */
  readonly unscheduled: Rows;
  readonly grid: Grid;
  /** Events, an explanation or the help; height 0 on low screens. */
  readonly lower: Rows;
  /** Facts about the selection; undefined on low screens. */
  readonly detailY: number | undefined;
  readonly footerY: number;
}

/** Facts about the cluster that the layout depends on. */
export interface Extent {
  readonly boxes: number;
  /** Most places that one box uses, of those looked at. */
  readonly places: number;
  readonly nameWidth: number;
}

export interface LayoutWish {
  /** Undefined: what fits. */
  readonly form: Form | undefined;
  /** A panel with text wants more room than the Events. */
  readonly hasPanel: boolean;
  /** Index of the box that must be visible. */
  readonly selected: number;
  readonly firstRow: number;
}

/** Columns of a cell with its gap, and of the border of a box. */
const CELL = 2;
const BORDER = 2;

const WIDTHS: Readonly<Record<"list" | "box", readonly [least: number, most: number]>> = {
  list: [34, 64],
  box: [18, 44],
};
/** Names are cut in lines; a line needs some cells behind the name. */
const LINE_NAME_MAX = 16;
const LINE_CELLS_MAX = 110;

export function planLayout(size: ScreenSize, extent: Extent, wish: LayoutWish): Layout {
  const { rows } = size;
  const hasDetail = rows >= 14;
  const footerY = rows - 1;
  const bottom = hasDetail ? footerY - 1 : footerY;
  const unscheduled: Rows = { y: 1, height: rows >= 18 ? 3 : 1 };
  const top = unscheduled.y + unscheduled.height;
  const lowerHeight = lowerRows(rows, bottom - top, wish.hasPanel);
  const lower: Rows = { y: bottom - lowerHeight, height: lowerHeight };
  const area: Rows = { y: top, height: lower.y - top };
  return {
    size,
    unscheduled,
    grid: planGrid(size.columns, area, { extent, wish }),
    lower,
    detailY: hasDetail ? bottom : undefined,
    footerY,
  };
}

function lowerRows(rows: number, free: number, hasPanel: boolean): number {
  if (hasPanel) return Math.max(Math.floor(free * 0.6), Math.min(free - 1, 6));
  if (rows < 16) return 0;
  return rows < 30 ? 5 : Math.min(12, Math.floor(rows / 4));
}

interface Wanted {
  readonly extent: Extent;
  readonly wish: LayoutWish;
}

/** Boxes must fit as a whole, a list with all pods; two screens of lines are easier to read than dots. */
function planGrid(columns: number, area: Rows, wanted: Wanted): Grid {
  const planned = (form: Form): Grid => gridOf(form, columns, { ...wanted, area });
  const { form } = wanted.wish;
  if (form !== undefined) return planned(form);
  const [list, box, line, dot] = [planned("list"), planned("box"), planned("line"), planned("dot")];
  if (list.rows <= list.visibleRows && list.capacity >= wanted.extent.places) return list;
  if (box.rows <= box.visibleRows) return box;
  return line.rows <= line.visibleRows * 2 ? line : dot;
}

function gridOf(form: Form, columns: number, { area, extent, wish }: Wanted & { readonly area: Rows }): Grid {
  const shape = shapeOf(form, columns, { area, extent });
  const rows = Math.ceil(extent.boxes / shape.columns);
  const visibleRows = Math.max(1, Math.floor(area.height / shape.boxHeight));
  const selectedRow = Math.floor(Math.max(0, wish.selected) / shape.columns);
  const least = Math.max(0, selectedRow - visibleRows + 1);
  const most = Math.max(0, Math.min(selectedRow, rows - visibleRows));
  const firstRow = Math.min(Math.max(wish.firstRow, least), Math.max(most, least));
  return { form, ...area, ...shape, rows, visibleRows, firstRow };
}

type Shape = Pick<Grid, "columns" | "boxWidth" | "boxHeight" | "perRow" | "capacity">;

function shapeOf(form: Form, columns: number, room: { readonly area: Rows; readonly extent: Extent }): Shape {
  if (form === "dot") {
    const width = CELL;
    return { columns: Math.floor(columns / width), boxWidth: width, boxHeight: 1, perRow: 0, capacity: 0 };
  }
  return form === "line" ? lineShape(columns, room.extent) : boxShape(form, columns, room);
}

function lineShape(columns: number, { places, nameWidth }: Extent): Shape {
  const name = Math.min(nameWidth, LINE_NAME_MAX);
  const cells = Math.min(Math.max(places, 4), LINE_CELLS_MAX, columns - name - 3);
  const boxWidth = name + cells + 3;
  const count = Math.max(1, Math.floor(columns / boxWidth));
  return { columns: count, boxWidth, boxHeight: 1, perRow: cells, capacity: cells };
}

/** Among the shapes that fit, the one that leaves the fewest gaps in the last row; then wide boxes, which are easier to read. */
function boxShape(
  form: "list" | "box",
  columns: number,
  { area, extent }: { readonly area: Rows; readonly extent: Extent },
): Shape {
  const [least, most] = WIDTHS[form];
  const counts = range(
    Math.max(1, Math.ceil(columns / most)),
    Math.max(1, Math.floor(columns / least)),
  ).filter((count) => count <= Math.max(1, extent.boxes, Math.ceil(columns / most)));
  const shapes = counts.map((count) => boxesIn(form, Math.floor(columns / count), { count, area, extent }));
  const fits = ({ boxHeight, columns: count }: Shape): boolean =>
    Math.ceil(extent.boxes / count) * boxHeight <= area.height;
  const gaps = ({ columns: count }: Shape): number => Math.ceil(extent.boxes / count) * count - extent.boxes;
  const [best] = shapes.filter(fits).toSorted((a, b) => gaps(a) - gaps(b));
  return best ?? (shapes.at(-1) as Shape);
}

function boxesIn(
  form: "list" | "box",
  width: number,
  { count, area, extent }: { readonly count: number; readonly area: Rows; readonly extent: Extent },
): Shape {
  const perRow = form === "list" ? 1 : Math.max(1, Math.floor((width - BORDER - 1) / CELL));
  const needed = Math.max(1, Math.ceil(extent.places / perRow)) + BORDER;
  const share = Math.floor(area.height / Math.max(1, Math.ceil(extent.boxes / count)));
  // Boxes share the whole height, so that none changes its size when a pod comes or goes.
  const boxHeight = Math.max(share, Math.min(needed, Math.max(area.height, BORDER + 1)));
  return {
    columns: count,
    boxWidth: width,
    boxHeight,
    perRow,
    capacity: perRow * (boxHeight - BORDER),
  };
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => first + at);
}
