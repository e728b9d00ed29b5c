/** An explanation as text: the answer first, one line a cause. */
import { treeText } from "../text/tree-text.ts";
import type { Explanation, Obstacle } from "./explanation.ts";

/** Column of the effects of the commands. */
const COMMAND_WIDTH_MAX = 60;

export function explanationText(explanation: Explanation): string {
  const { subject, state, obstacles, origin, count, recent, remarks } = explanation;
  const parts = [
    `${subject}: ${state}\n`,
    obstacles.length > 0 ? obstaclesText(obstacles) : waitingText(explanation),
    origin.length > 0 ? `why it exists\n${treeText(origin)}` : "",
    count === undefined ? "" : `why ${String(count.replicas)}\n${treeText(count.causes)}`,
    recent.length > 0 ? `latest changes\n${treeText(recent)}` : "",
    remarks.map((remark) => `note: ${remark}\n`).join(""),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function waitingText({ isSettled }: Explanation): string {
  return isSettled ? "" : "blocked by\n  nothing that is known; it may still be in progress\n";
}

function obstaclesText(obstacles: readonly Obstacle[]): string {
  const lines = obstacles.map(({ of, blockedBy }) => `  ${of === undefined ? "" : `${of}: `}${blockedBy}\n`);
  const remedies = obstacles.flatMap(({ unblock }) => unblock);
  const width = Math.min(COMMAND_WIDTH_MAX, Math.max(0, ...remedies.map(({ command }) => command.length)));
  const commands = remedies.map(({ command, effect }) => `  ${command.padEnd(width)}  ${effect}\n`);
  const help = commands.length === 0 ? "" : `to unblock\n${[...new Set(commands)].join("")}`;
  return `blocked by\n${lines.join("")}${help}`;
}
