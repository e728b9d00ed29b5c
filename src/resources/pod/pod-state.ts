/** Questions that controllers, the agent and tables ask about a pod. */

import type { Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";

/** A pod that ended stays ended. */
export function isTerminal({ status }: Pod): boolean {
  return status.phase === "Succeeded" || status.phase === "Failed";
}

export function hasCondition({ status }: Pod, type: string): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === "True",
  );
}

/** Takes part in what it is there for: its containers are ready, and so are its readiness gates. */
export function isReady(pod: Pod): boolean {
  return hasCondition(pod, "Ready");
}

/** Has been given a node. */
export function isPlaced({ spec }: Pod): boolean {
  return (spec.nodeName ?? "") !== "";
}

/** Counts for whoever keeps a number of pods: neither ended nor on its way out. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function findCondition({ status }: Pod, type: string): PodCondition | undefined {
  return (status.conditions ?? []).find((condition) => condition.type === type);
}

/** Has been ready for long enough to count on it. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const availableAt = findAvailableAt(pod, minReadySeconds);
  return availableAt !== undefined && availableAt <= now;
}

/** When a ready pod is, or will be, available; undefined while it is not ready. */
export function findAvailableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = findCondition(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return ready.lastTransitionTime === undefined
    ? undefined
    : Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000;
}

/**
 * Seconds a deleted pod has to end. Nobody runs a pod that was never put on a node or that has ended: it is
 * gone at once, whatever was asked for.
 */
export function podGraceSeconds(pod: Pod, asked?: number): number {
  if (pod.spec.nodeName === undefined || isTerminal(pod)) return 0;
  const seconds = plainNumber(asked ?? pod.spec.terminationGracePeriodSeconds ?? 0);
  // A negative period means as soon as possible.
  return seconds < 0 ? 1 : seconds;
}
