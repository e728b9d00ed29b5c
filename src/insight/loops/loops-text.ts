/** Controllers and fights between writers, as text. */
import type { Event } from "../../api/generated/types/core-v1.ts";
import { table } from "../drift/drift-text.ts";
import type { LoopFigures } from "./loop-figures.ts";

export function loopsText(loops: readonly LoopFigures[], fights: readonly Event[]): string {
  const heads = [
    "CONTROLLER",
    "QUEUE",
    "IN WORK",
    "BACK-OFF",
    "PASSES/S",
    "ERRORS/S",
    "P99",
    "OLDEST",
    "HOT",
  ];
  const rows = loops.map((each) => [
    each.controller,
    String(each.queued),
    String(each.inWork),
    String(each.delayed),
    each.passesPerSecond.toFixed(1),
    each.errorsPerSecond.toFixed(1),
    each.p99Seconds === undefined
      ? "-"
      : each.p99Seconds === Infinity
        ? "> 60 s"
        : `≤ ${String(each.p99Seconds * 1000)} ms`,
    `${each.oldestSeconds.toFixed(1)} s`,
    String(each.hotLoops),
  ]);
  return `${table([heads, ...rows])}${fightsText(fights)}`;
}

/** Events `HotLoop` name the writers and the field. */
function fightsText(fights: readonly Event[]): string {
  if (fights.length === 0) return "";
  const lines = fights.map(
    ({ involvedObject: { kind = "", namespace, name = "" }, message = "", count = 1 }) => {
      const place = namespace === undefined ? name : `${namespace}/${name}`;
      return `  ${kind} ${place}: ${message}${count > 1 ? ` (×${String(count)})` : ""}\n`;
    },
  );
  return `\nloops that do not settle\n${lines.join("")}`;
}
