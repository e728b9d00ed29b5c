/** An explanation as text: the answer first, one line a cause. */
import { oneLine, wrapLines } from "../text/text-width.ts";
import { treeText } from "../text/tree-text.ts";
import type { Explanation, Obstacle } from "./explanation.ts";

/** Column of the effects of the commands. */
const COMMAND_WIDTH_MAX = 60;

/** `columns` of a terminal; without them no line is broken. Control characters of texts from the cluster are left out. */
export function explanationText(explanation: Explanation, columns = Infinity): string {
  const { subject, state, obstacles, origin, count, recent, remarks } = explanation;
  const parts = [
    broken([`${subject}: ${state}`], columns),
    obstacles.length > 0 ? obstaclesText(obstacles, columns) : waitingText(explanation),
    origin.length > 0 ? `why it exists\n${treeText(origin, columns)}` : "",
    count === undefined ? "" : `why ${String(count.replicas)}\n${treeText(count.causes, columns)}`,
    recent.length > 0 ? `latest changes\n${treeText(recent, columns)}` : "",
    broken(
      remarks.map((remark) => `note: ${remark}`),
      columns,
    ),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function broken(lines: readonly string[], columns: number): string {
  return wrapLines(lines.map(oneLine), columns)
    .map((line) => `${line}\n`)
    .join("");
}

function waitingText({ isSettled }: Explanation): string {
  return isSettled ? "" : "blocked by\n  nothing that is known; it may still be in progress\n";
}

function obstaclesText(obstacles: readonly Obstacle[], columns: number): string {
  const lines = obstacles.map(({ of, blockedBy }) => `  ${of === undefined ? "" : `${of}: `}${blockedBy}`);
  const remedies = obstacles.flatMap(({ unblock }) => unblock);
  const lengths = remedies.map(({ command }) => command.length);
  const width = Math.min(COMMAND_WIDTH_MAX, columns - 4, Math.max(0, ...lengths));
  const commands = remedies.map(({ command, effect }) => {
    // A command is never broken, so that it can be copied; an effect without room gets a line of its own.
    const line = `  ${oneLine(command).padEnd(width)}  ${effect}`;
    return line.length <= columns ? `${line}\n` : `  ${oneLine(command)}\n    ${effect}\n`;
  });
  const help = commands.length === 0 ? "" : `to unblock\n${[...new Set(commands)].join("")}`;
  return `blocked by\n${broken(lines, columns)}${help}`;
}
