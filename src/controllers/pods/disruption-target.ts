/** Builds the condition DisruptionTarget, which shows a pod's owner that the pod did not end by itself. */
import type { Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";

export function disruptionTarget(
  { metadata: { generation } }: Pod,
  { reason, message }: { readonly reason: string; readonly message: string },
  now: number,
): PodCondition {
  return {
    type: "DisruptionTarget",
    status: "True",
    reason,
    message,
    lastTransitionTime: timeText(now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}
