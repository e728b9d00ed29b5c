/** The selected cell, and where the arrow keys move it. Pure. */
import type { ClusterModel } from "./cluster-model.ts";
import type { Layout } from "./layout.ts";
import type { NodeBox, PodEntry } from "./node-box.ts";

export interface Selection {
  /** Name of the node; empty for the pods without a node; undefined before the first move. */
  readonly node: string | undefined;
  /** Place in its box; -1 for the node itself. */
  readonly place: number;
}

export type Direction = "up" | "down" | "left" | "right" | "home" | "end" | "page-up" | "page-down";

export interface Ground {
  readonly model: ClusterModel;
  readonly layout: Layout;
}

/** The box of the selection, as long as it is shown. */
export function selectedBox({ node }: Selection, { model }: Pick<Ground, "model">): NodeBox | undefined {
  if (node === undefined) return undefined;
  return node === "" ? model.unscheduled : model.boxes[model.indexOf(node)];
}

export function selectedPod(selection: Selection, ground: Ground): PodEntry | undefined {
  const pod = selectedBox(selection, ground)?.at(selection.place);
  return pod?.isGhost === true ? undefined : pod;
}

/** Where a pod is gone, the one beside it is selected, or the node. */
export function settleSelection(selection: Selection, ground: Pick<Ground, "model">): Selection {
  const box = selectedBox(selection, ground);
  const isLeft = box !== undefined && selection.place >= 0 && box.at(selection.place) === undefined;
  return isLeft ? nearest(box, selection.place) : selection;
}

export function moveSelection(selection: Selection, direction: Direction, ground: Ground): Selection {
  const { model } = ground;
  const { boxes } = model;
  const first = boxes[0];
  const box = selectedBox(selection, ground);
  if (box === undefined) return first === undefined ? { node: "", place: 0 } : firstOf(first);
  if (direction === "home") return first === undefined ? selection : { node: first.name, place: -1 };
  if (direction === "end") return { node: boxes.at(-1)?.name ?? "", place: -1 };
  if (box === model.unscheduled) return moveInUnscheduled(selection, direction, ground);
  return direction === "left" || direction === "right"
    ? moveAcross(selection, direction === "left" ? -1 : 1, { box, ground })
    : moveAlong(selection, direction, { box, ground });
}

/** The first pod of a box that the filter shows, or the node itself. */
function firstOf(box: NodeBox): Selection {
  return { node: box.name, place: placeFrom(box, 0, { by: 1, end: box.length }) ?? -1 };
}

/** The next place with a pod that the filter shows. */
function placeFrom(
  box: NodeBox,
  from: number,
  { by, end }: { readonly by: number; readonly end: number },
): number | undefined {
  for (let place = from; place >= 0 && place < end; place += by)
    if (box.at(place)?.isMatch === true) return place;
  return undefined;
}

/** Cells of the line of pods without a node. */
export function unscheduledCells({ size: { columns } }: Layout): number {
  return Math.max(1, Math.floor((columns - 4) / 2));
}

function moveInUnscheduled({ place }: Selection, direction: Direction, { model, layout }: Ground): Selection {
  const last = Math.min(model.unscheduled.length, unscheduledCells(layout)) - 1;
  const { boxes } = model;
  const { firstRow, columns } = layout.grid;
  const below = boxes[firstRow * columns];
  if ((direction === "down" || direction === "page-down") && below !== undefined)
    return { node: below.name, place: -1 };
  if (direction === "left") return { node: "", place: Math.max(0, place - 1) };
  if (direction === "right") return { node: "", place: Math.max(0, Math.min(place + 1, last)) };
  return { node: "", place };
}

interface From {
  readonly box: NodeBox;
  readonly ground: Ground;
}

/** Left and right: within the row of the box, then to the box beside it. */
function moveAcross({ place }: Selection, by: 1 | -1, { box, ground }: From): Selection {
  const { grid } = ground.layout;
  const perRow = Math.max(1, grid.perRow);
  const row = Math.floor(Math.max(place, 0) / perRow);
  const end = Math.min((row + 1) * perRow, shownPlaces(box, ground.layout));
  const next = place < 0 ? undefined : placeFrom(box, place + by, { by, end });
  if (next !== undefined && next >= row * perRow) return { node: box.name, place: next };
  const beside = ground.model.boxes[ground.model.indexOf(box.name) + by];
  if (beside === undefined) return { node: box.name, place };
  return place < 0 ? { node: beside.name, place: -1 } : nearest(beside, by > 0 ? row * perRow : end - 1);
}

/** Up and down: within the column of the box, over its head, then to the box above or below. */
function moveAlong({ place }: Selection, direction: Direction, from: From): Selection {
  const { grid } = from.ground.layout;
  const isDown = direction === "down" || direction === "page-down";
  const isPage = direction.startsWith("page");
  const within = isPage || grid.boxHeight === 1 ? undefined : moveInBox(place, isDown, from);
  if (within !== undefined) return { node: from.box.name, place: within };
  const hops = (isDown ? 1 : -1) * (isPage ? grid.visibleRows : 1) * grid.columns;
  return enter({ place, isDown }, hops, from);
}

/** Undefined at the edge of the box. */
function moveInBox(place: number, isDown: boolean, { box, ground: { layout } }: From): number | undefined {
  const end = shownPlaces(box, layout);
  const perRow = Math.max(1, layout.grid.perRow);
  if (place < 0) return isDown ? placeFrom(box, 0, { by: 1, end }) : undefined;
  if (isDown) return placeFrom(box, place + perRow, { by: perRow, end });
  return placeFrom(box, place - perRow, { by: -perRow, end }) ?? -1;
}

/** The cell at which the selection comes into another box. */
function enter(
  { place, isDown }: { readonly place: number; readonly isDown: boolean },
  hops: number,
  { box, ground: { model, layout } }: From,
): Selection {
  const index = model.indexOf(box.name);
  const target = index + hops;
  if (target < 0) return { node: "", place: 0 };
  const { columns, rows, boxHeight } = layout.grid;
  if (target >= model.boxes.length && Math.floor(index / columns) === rows - 1)
    return { node: box.name, place };
  const other = model.boxes[Math.min(target, model.boxes.length - 1)] ?? box;
  const shown = shownPlaces(other, layout);
  if (place < 0 || (isDown && boxHeight > 1)) return { node: other.name, place: -1 };
  return nearest(other, boxHeight === 1 ? Math.min(place, shown - 1) : shown - 1);
}

/** The place itself, one before it, one behind it, or the node when the filter shows none of its pods. */
function nearest(box: NodeBox, place: number): Selection {
  const end = box.length;
  const found =
    placeFrom(box, Math.min(place, end - 1), { by: -1, end }) ?? placeFrom(box, 0, { by: 1, end });
  return { node: box.name, place: found ?? -1 };
}

function shownPlaces(box: NodeBox, { grid }: Layout): number {
  return Math.min(box.length, grid.capacity);
}
