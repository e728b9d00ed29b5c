import { fitText, textWidth } from "../../insight/text/text-width.ts";
/** One line about the selected pod or node. Pure. */
import { grouped } from "../count-text.ts";
import type { Span } from "../terminal/frame.ts";
import type { NodeBox } from "./node-box.ts";
import type { Picture } from "./picture.ts";
import { cellOf, countSpans } from "./pod-marks.ts";
import { selectedBox, selectedPod } from "./selection.ts";
import type { PodCell } from "./watched-objects.ts";

/** As many facts as fit. */
export function describeSelection(
  { model, view, layout, around }: Picture,
  columns: number,
): readonly Span[] {
  const ground = { model, layout };
  const entry = selectedPod(view.selection, ground);
  const box = selectedBox(view.selection, ground);
  if (entry !== undefined) return fitting([cellOf(entry, around), ...podSpans(entry.shown)], columns);
  if (box === undefined || box === model.unscheduled)
    return fitting([["arrows select a pod or a node", "dim"]], columns);
  return fitting([...nodeSpans(box), ...countSpans(box.counts, around.glyphs, true)], columns);
}

function podSpans({
  namespace,
  name,
  status,
  ready,
  restarts,
  node,
  owner,
  labels,
}: PodCell): readonly Span[] {
  const facts: readonly (readonly [label: string, value: string])[] = [
    ["containers", ready],
    ["restarts", String(restarts)],
    ["on", node === "" ? "no node yet" : node],
    ["of", owner.replace("/", " ")],
    ["", labels],
  ];
  return [
    [` ${namespace}/${name}  `, "bright bold"],
    [`${status}  `, "plain"],
    ...facts
      .filter(([, value]) => value !== "")
      .flatMap(([label, value]): readonly Span[] => [
        [label === "" ? "" : `${label} `, "dim"],
        [`${value}  `, "plain"],
      ]),
  ];
}

function nodeSpans({ name, node, pods }: NodeBox): readonly Span[] {
  const states = [
    node?.isReady === true ? "Ready" : "NotReady",
    ...(node?.isDown === true ? ["power off: f switches it on"] : []),
    ...(node?.isCordoned === true ? ["SchedulingDisabled"] : []),
    ...(node?.isSimulated === true ? ["simulated"] : []),
  ];
  const room = node === undefined ? "" : ` of ${grouped(node.room)}`;
  return [
    [`Node ${name}  `, "bright bold"],
    [`${states.join(", ")}  `, "plain"],
    [`${grouped(pods)}${room} pods  `, "plain"],
  ];
}

function fitting(spans: readonly Span[], columns: number): readonly Span[] {
  const shown: Span[] = [];
  let left = columns;
  for (const [text, style] of spans) {
    if (left <= 0) break;
    const fitted = fitText(text, left);
    shown.push([fitted, style]);
    left -= textWidth(fitted);
  }
  return shown;
}
