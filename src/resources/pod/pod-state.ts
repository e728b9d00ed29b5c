/** Predicates about a pod that controllers, the agent and tables share. */

import type { Pod, PodCondition } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";

/** A terminal pod never runs again. */
export function isTerminal({ status }: Pod): boolean {
  return status.phase === "Succeeded" || status.phase === "Failed";
}

export function hasCondition({ status }: Pod, type: string): boolean {
  return (status.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === "True",
  );
}

/** Containers and readiness gates are ready, so that the pod serves traffic. */
export function isReady(pod: Pod): boolean {
  return hasCondition(pod, "Ready");
}

/** Bound to a node. */
export function isAssigned({ spec }: Pod): boolean {
  return (spec.nodeName ?? "") !== "";
}

/** Counts towards a controller's replicas: neither terminal nor being deleted. */
export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function findCondition({ status }: Pod, type: string): PodCondition | undefined {
  return (status.conditions ?? []).find((condition) => condition.type === type);
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const availableAt = findAvailableAt(pod, minReadySeconds);
  return availableAt !== undefined && availableAt <= now;
}

/** Time at which a ready pod is available; undefined while it is not ready. */
export function findAvailableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = findCondition(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return ready.lastTransitionTime === undefined
    ? undefined
    : Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000;
}

/**
 * Grace period of a deleted pod in seconds. It is zero for a terminal or unbound pod, because no agent runs
 * it.
 */
export function podGraceSeconds(pod: Pod, asked?: number): number {
  if (pod.spec.nodeName === undefined || isTerminal(pod)) return 0;
  const seconds = plainNumber(asked ?? pod.spec.terminationGracePeriodSeconds ?? 0);
  // A negative period means as short as possible.
  return seconds < 0 ? 1 : seconds;
}
