/** What the scheduler writes into a pod's status: why the pod has no node yet, and which node it waits for. */

import type { Pod, PodCondition } from "../api/generated/types/core-v1.ts";
import { formatTime } from "../api/values/time.ts";
import type { Patch } from "../client/client.ts";

export interface PodReport {
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  /** Undefined: it waits for none. */
  readonly nominatedNodeName: string | undefined;
}

const TYPE = "PodScheduled";

/** Undefined when the status says so already. */
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

/** The condition, and its reason, by which a pod that must go for another is known. */
export const DISRUPTED = "DisruptionTarget";
export const PREEMPTED = "PreemptionByScheduler";

/** Says that the pod is about to be deleted for the sake of another. */
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

/** Says where the pod will be, while something has to be done before it can be bound. Undefined when the status says so already. */
export function expectationPatch(pod: Pod, nodeName: string): Patch | undefined {
  if (pod.status.nominatedNodeName === nodeName) return undefined;
  return statusPatch(pod, { nominatedNodeName: nodeName });
}

/** The room that was kept for it goes to a more important one. */
export function withdrawPatch(pod: Pod): Patch {
  return statusPatch(pod, { nominatedNodeName: null });
}

/** Refused for another pod of the same name. */
function statusPatch({ metadata }: Pod, status: unknown): Patch {
  return { type: "strategic", changes: { metadata: { uid: metadata.uid }, status } };
}

function transitionTime(before: PodCondition | undefined, status: string, nowMs: number): string {
  const isSame = before?.status === status && before.lastTransitionTime !== undefined;
  return isSame ? before.lastTransitionTime : formatTime(BigInt(Math.floor(nowMs)) * 1000n);
}
