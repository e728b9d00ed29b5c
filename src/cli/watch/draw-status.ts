import { textWidth } from "../../insight/text/text-width.ts";
/** Draws the first line: the state of the whole cluster. Pure. */
import { counted, grouped } from "../count-text.ts";
import type { Frame, Span } from "../terminal/frame.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Picture } from "./picture.ts";
import { countSpans } from "./pod-marks.ts";

/** Figures that are more useful than the words of the phases. */
const KEPT = 2;
/** Below this width names and words are left out. */
const WORDS_FROM = 60;

export function drawStatus(frame: Frame, { model, around }: Picture): void {
  const figures = figureSpans(model, around);
  const isNarrow = frame.columns < WORDS_FROM;
  const end = frame.putSpans(
    { x: 0, y: 0 },
    isNarrow ? narrowSpans(model, around) : headSpans(model, around),
  );
  const room = frame.columns - end;
  const words = countSpans(model.counts, around.glyphs, true);
  const isWordy = spanWidth(words) + spanWidth(figures.slice(0, KEPT)) <= room;
  const after = frame.putSpans(
    { x: end, y: 0 },
    isWordy ? words : countSpans(model.counts, around.glyphs, false),
  );
  let x = frame.columns;
  for (const span of figures) {
    x -= spanWidth([span]);
    if (x <= after) return;
    frame.putSpans({ x, y: 0 }, [span]);
  }
}

function narrowSpans({ nodes, readyNodes, pods }: ClusterModel, around: Picture["around"]): readonly Span[] {
  const isWell = readyNodes === nodes;
  return [
    stateSpan(around),
    [`${isWell ? "" : `${grouped(readyNodes)}/`}${counted(nodes, "node")} `, isWell ? "plain" : "bad bold"],
    [`${counted(pods, "pod")} `, "plain"],
  ];
}

/** Whether what is shown is up to date. */
function stateSpan({ trouble, hasSynced }: Picture["around"]): Span {
  return ["● ", trouble === undefined && hasSynced ? "good" : "waiting"];
}

function headSpans(model: ClusterModel, around: Picture["around"]): readonly Span[] {
  return [
    stateSpan(around),
    [around.title, "bright bold"],
    ["  ", "plain"],
    [nodesText(model), model.readyNodes < model.nodes ? "bad bold" : "plain"],
    [`  ${counted(model.pods, "pod")}  `, "plain"],
  ];
}

/** From the right: the first ones are kept where not all fit. */
function figureSpans(
  { revision }: ClusterModel,
  { notConverged, passesPerSecond }: Picture["around"],
): readonly Span[] {
  const shownRevision = /^\d+$/.test(revision) ? grouped(Number(revision)) : revision;
  return [
    ...(notConverged === undefined
      ? []
      : [figure(`${grouped(notConverged)} not converged`, notConverged > 0)]),
    ...(passesPerSecond === undefined ? [] : [figure(`${passesPerSecond.toFixed(1)} passes/s`)]),
    ...(revision === "" ? [] : [figure(`rev ${shownRevision}`)]),
  ];
}

function nodesText({ nodes, readyNodes }: ClusterModel): string {
  const all = counted(nodes, "node");
  return readyNodes < nodes ? `${grouped(readyNodes)} of ${all} ready` : all;
}

function figure(text: string, isAlarming = false): Span {
  return [`  ${text}`, isAlarming ? "waiting" : "dim"];
}

function spanWidth(spans: readonly Span[]): number {
  let width = 0;
  for (const [text] of spans) width += textWidth(text);
  return width;
}
