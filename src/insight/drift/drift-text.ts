import { durationText } from "../text/duration-text.ts";
/** Objects that differ, as a table. */
import { fitText } from "../text/text-width.ts";
import type { Drift } from "./find-drift.ts";

const HEADS = ["OBJECT", "STATE", "LAST SAID BY ITS LOOP"] as const;
const TEXT_MAX = 100;

/** `columns` of a terminal cut the rows; the object and its state come first. */
export function driftText(drifts: readonly Drift[], now: number, columns = Infinity): string {
  if (drifts.length === 0) return "Everything is as desired.\n";
  const rows = drifts.map(({ object, state, dependents, lastSaid }) => [
    object,
    dependents === 0 ? state : `${state}, and ${String(dependents)} below it`,
    lastSaid === undefined
      ? "nothing in the last hour"
      : `${shortened(lastSaid.text)} (${durationText(now - lastSaid.at)} ago)`,
  ]);
  const lines = table([[...HEADS], ...rows])
    .trimEnd()
    .split("\n");
  return lines.map((line) => `${fitText(line, columns)}\n`).join("");
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX - 1)}…` : line;
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("   ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
