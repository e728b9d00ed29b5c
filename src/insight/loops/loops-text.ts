/** Controllers and fights between writers, as text. */
import type { Event } from "../../api/generated/types/core-v1.ts";
import { table } from "../drift/drift-text.ts";
import type { LoopFigures } from "./loop-figures.ts";

export const LOOP_HEADS = [
  "CONTROLLER",
  "QUEUE",
  "IN WORK",
  "BACK-OFF",
  "PASSES/S",
  "ERRORS/S",
  "P99",
  "OLDEST",
  "HOT",
] as const;

/** Title of the fights. */
export const FIGHTS_TITLE = "loops that do not settle";

export function loopsText(loops: readonly LoopFigures[], fights: readonly Event[]): string {
  const lines = fightTexts(fights).map((text) => `  ${text}\n`);
  const list = lines.length === 0 ? "" : `\n${FIGHTS_TITLE}\n${lines.join("")}`;
  return `${table([LOOP_HEADS, ...loops.map(loopCells)])}${list}`;
}

/** Cells below `LOOP_HEADS`. */
export function loopCells(loop: LoopFigures): readonly string[] {
  return [
    loop.controller,
    String(loop.queued),
    String(loop.inWork),
    String(loop.delayed),
    loop.passesPerSecond.toFixed(1),
    loop.errorsPerSecond.toFixed(1),
    p99Text(loop.p99Seconds),
    `${loop.oldestSeconds.toFixed(1)} s`,
    String(loop.hotLoops),
  ];
}

function p99Text(seconds: number | undefined): string {
  if (seconds === undefined) return "-";
  return seconds === Infinity ? "> 60 s" : `≤ ${String(seconds * 1000)} ms`;
}

/** Events `HotLoop` name the writers and the field. */
export function fightTexts(fights: readonly Event[]): readonly string[] {
  return fights.map(({ involvedObject: { kind = "", namespace, name = "" }, message = "", count = 1 }) => {
    const place = namespace === undefined ? name : `${namespace}/${name}`;
    return `${kind} ${place}: ${message}${count > 1 ? ` (×${String(count)})` : ""}`;
  });
}
