/** A rollout passed its deadline, or a Job its limit of failures. */
import { findCondition } from "../state/conditions.ts";
import type { StuckRule } from "./situation.ts";
import { inNamespace, kubectlName } from "./situation.ts";

export const deadlineRule: StuckRule = (situation) => {
  const { object, type } = situation;
  const { name = "", namespace } = object.metadata;
  const progressing = findCondition(object, "Progressing");
  if (type.kind === "Deployment" && progressing?.reason === "ProgressDeadlineExceeded") {
    const command = `kubectl rollout undo deployment ${name}${inNamespace(namespace)}`;
    return {
      blockedBy: `the rollout made no progress in time: ${progressing.message ?? ""}`,
      unblock: [{ command, effect: "go back to the last template" }],
    };
  }
  const failed = type.kind === "Job" ? findCondition(object, "Failed") : undefined;
  if (failed?.status !== "True") return undefined;
  return {
    blockedBy: `the Job failed for good (${failed.reason ?? "no reason"}): ${failed.message ?? ""}`,
    unblock: [{ command: `kubectl delete ${kubectlName(situation)}`, effect: "create it again, repaired" }],
  };
};
