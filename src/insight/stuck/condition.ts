/** Any other object whose own conditions say that it is not ready. */
import { conditionsOf } from "../state/conditions.ts";
import type { Condition } from "../state/conditions.ts";
import { durationText } from "../text/duration-text.ts";
import type { StuckRule } from "./situation.ts";
import { kubectlName } from "./situation.ts";

/** Conditions that a healthy object has as True, the most telling first. */
const WANTED = [
  "Ready",
  "Available",
  "NamesAccepted",
  "Established",
  "AbleToScale",
  "ScalingActive",
  "ContainersReady",
  "Initialized",
];

export const conditionRule: StuckRule = (situation) => {
  const conditions = conditionsOf(situation.object);
  const unmet = WANTED.map((type) => conditions.find((each) => each.type === type)).find(
    (each) => each !== undefined && each.status !== "True" && each.reason !== "PodCompleted",
  );
  if (unmet === undefined) return undefined;
  return {
    blockedBy: `${textOf(unmet)}${sinceText(unmet, situation.now)}`,
    unblock: [
      { command: `kubectl describe ${kubectlName(situation)}`, effect: "see its Events and conditions" },
    ],
  };
};

function textOf({ type, status, reason, message }: Condition): string {
  const why = [reason, message].filter((each) => each !== undefined && each !== "").join(": ");
  return `condition ${type} is ${status}${why === "" ? "" : ` (${why})`}`;
}

function sinceText({ lastTransitionTime }: Condition, now: number): string {
  const since = Date.parse(lastTransitionTime ?? "");
  return Number.isNaN(since) ? "" : ` for ${durationText(now - since)}`;
}
