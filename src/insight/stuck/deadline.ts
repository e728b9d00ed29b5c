/** A rollout passed its deadline, or a Job its limit of failures. */
import { Job } from "../../api/generated/types/batch-v1.ts";
import { findCondition } from "../state/conditions.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";

export const deadlineRule: StuckRule = (situation) => {
  const { object, type } = situation;
  const { name = "", namespace } = object.metadata;
  const progressing = findCondition(object, "Progressing");
  if (type.kind === "Deployment" && progressing?.reason === "ProgressDeadlineExceeded") {
    const command = `kubectl rollout undo deployment ${name}${inNamespace(namespace)}`;
    const isFirst = object.metadata.annotations?.["deployment.kubernetes.io/revision"] === "1";
    return {
      blockedBy: `the rollout made no progress in time: ${progressing.message ?? ""}`,
      unblock: isFirst ? [] : [{ command, effect: "go back to the last template" }],
    };
  }
  return undefined;
};

export const failedJobRule: StuckRule = (situation) => {
  const job = asKind(situation, Job);
  const failed = job === undefined ? undefined : findCondition(job, "Failed");
  if (job === undefined || failed?.status !== "True") return undefined;
  const { name, namespace } = job.metadata;
  const place = inNamespace(namespace);
  return {
    blockedBy: `the Job failed for good (${failed.reason ?? "no reason"}): ${failed.message ?? ""}`,
    unblock: [
      {
        command: `kubectl delete job ${name}${place}`,
        effect: "then create it again, repaired: a Job never starts again",
      },
    ],
  };
};
