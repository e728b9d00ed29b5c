/**
 * Text of the differences between two values. Removed lines begin with `-`, added ones with `+`, and equal
 * parts are shown as a count. The format is that of go-cmp, which upstream prints.
 */

import { isJsonObject } from "../../api/json/json-object.ts";
import { stringifyAsGo } from "../../api/json/json-text.ts";
import { quoted } from "../../api/values/message-text.ts";
import { isSame } from "../rules/value-rules.ts";

/** Upper bound, so that a message does not outgrow its object. */
const LINES_MAX = 200;

interface Change {
  readonly label: string;
  readonly previous: unknown;
  readonly next: unknown;
  readonly depth: number;
}

export function specDiff(type: string, previous: unknown, next: unknown): string {
  const lines = changedLines({ label: type, previous, next, depth: 0 });
  const shown = lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), "  ..."] : lines;
  return `${shown.join("\n")}\n`;
}

function changedLines({ label, previous, next, depth }: Change): readonly string[] {
  const indent = "\t".repeat(depth);
  const end = depth === 0 ? "" : ",";
  const pairs = findPairs(previous, next);
  if (pairs === undefined) {
    return [
      ...(previous === undefined ? [] : [`- ${indent}${label}${valueText(previous)}${end}`]),
      ...(next === undefined ? [] : [`+ ${indent}${label}${valueText(next)}${end}`]),
    ];
  }
  const changed = pairs.filter((pair) => !isSame(pair.previous, pair.next));
  const same = pairs.length - changed.length;
  return [
    `  ${indent}${label}{`,
    ...changed.flatMap((pair) => changedLines({ ...pair, depth: depth + 1 })),
    ...(same === 0 ? [] : [`  ${indent}\t... // ${same} identical ${same === 1 ? "field" : "fields"}`]),
    `  ${indent}}${end}`,
  ];
}

/** Pairs of the parts of two values of the same shape; undefined when the values have no common parts. */
function findPairs(previous: unknown, next: unknown): readonly Omit<Change, "depth">[] | undefined {
  if (isJsonObject(previous) && isJsonObject(next)) {
    const names = [...new Set([...Object.keys(previous), ...Object.keys(next)])];
    return names.map((name) => ({
      label: `${name.charAt(0).toUpperCase()}${name.slice(1)}: `,
      previous: previous[name],
      next: next[name],
    }));
  }
  if (!isList(previous) || !isList(next)) return undefined;
  const length = Math.max(previous.length, next.length);
  return Array.from({ length }, (_, i) => ({ label: "", previous: previous[i], next: next[i] }));
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function valueText(value: unknown): string {
  return typeof value === "string" ? quoted(value) : stringifyAsGo(value);
}
