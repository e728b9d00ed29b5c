/** Builds the scheduler's patches of a pod's status: the reason why it has no node, and its nominated node. */

import type { Pod, PodCondition } from "../api/generated/types/core-v1.ts";
import { timeText } from "../api/values/time.ts";
import type { Patch } from "../client/client.ts";

export interface PodReport {
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** Undefined if the pod has no nominated node. */
  readonly nominatedNodeName: string | undefined;
}

const TYPE = "PodScheduled";

/** Undefined if the status is up to date. */
export function planReport(pod: Pod, report: PodReport, nowMs: number): Patch | undefined {
  const before = pod.status.conditions?.find(({ type }) => type === TYPE);
  const isSameNode = pod.status.nominatedNodeName === report.nominatedNodeName;
  if (isSameNode && before !== undefined && isReported(before, report)) return undefined;
  return statusPatch(pod, {
    conditions: [
      {
        type: TYPE,
        status: "False",
        reason: report.reason,
        message: report.message,
        lastTransitionTime: transitionTime(before, "False", nowMs),
        ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
      },
    ],
    ...(isSameNode ? {} : { nominatedNodeName: report.nominatedNodeName ?? null }),
  });
}

function isReported({ status, reason, message = "" }: PodCondition, report: PodReport): boolean {
  return status === "False" && reason === report.reason && message === report.message;
}

/** Type and reason of the condition of a preempted pod. */
export const DISRUPTED = "DisruptionTarget";
export const PREEMPTED = "PreemptionByScheduler";

/** Marks a pod that is about to be deleted for a more important one. */
export function disruptionPatch(pod: Pod, preemptorScheduler: string, nowMs: number): Patch {
  const before = pod.status.conditions?.find(({ type }) => type === DISRUPTED);
  return statusPatch(pod, {
    conditions: [
      {
        type: DISRUPTED,
        status: "True",
        reason: PREEMPTED,
        message: `${preemptorScheduler}: preempting to accommodate a higher priority pod`,
        lastTransitionTime: transitionTime(before, "True", nowMs),
        ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
      },
    ],
  });
}

/** Records the chosen node while PreBind work runs. Undefined if the status is up to date. */
export function nominationPatch(pod: Pod, nodeName: string): Patch | undefined {
  if (pod.status.nominatedNodeName === nodeName) return undefined;
  return statusPatch(pod, { nominatedNodeName: nodeName });
}

/** Clears the nominated node, whose room goes to a more important pod. */
export function clearNominationPatch(pod: Pod): Patch {
  return statusPatch(pod, { nominatedNodeName: null });
}

/** The uid makes the server refuse the patch for another pod of the same name. */
function statusPatch({ metadata }: Pod, status: unknown): Patch {
  return { type: "strategic", changes: { metadata: { uid: metadata.uid }, status } };
}

function transitionTime(before: PodCondition | undefined, status: string, nowMs: number): string {
  const isSame = before?.status === status && before.lastTransitionTime !== undefined;
  return isSame ? before.lastTransitionTime : timeText(nowMs);
}
