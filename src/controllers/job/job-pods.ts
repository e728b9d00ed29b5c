/** Reads the Job-related state of a pod. */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition, isTerminal } from "../../resources/pod/pod-state.ts";

/** Finalizer that keeps a pod until the Job has counted it. */
export const TRACKING = "batch.kubernetes.io/job-tracking";
/** Name of a label and of an annotation. */
export const COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index";
export const INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count";
export const INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

/** The pod is not counted yet. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING) ?? false;
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

export function hasLimitPerIndex({ spec }: Job): boolean {
  return spec.completionMode === "Indexed" && spec.backoffLimitPerIndex !== undefined;
}

/** Undefined for a pod without an index, or with an index that the Job no longer has. */
export function findIndex({ metadata }: Pod, { spec }: Job): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? "";
  const index = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod);
}

/** Pods are replaced once they have ended, not once they are deleted. */
export function waitsForEnd({ spec }: Job): boolean {
  return spec.podReplacementPolicy === "Failed";
}

/** A deleted pod counts as failed at once, as it may never report its end. Jobs that wait for the end are the exception. */
export function hasFailed(pod: Pod, job: Job): boolean {
  return pod.status.phase === "Failed" || (isTerminating(pod) && !waitsForEnd(job));
}

/** Numbers of earlier failures of the pod's index, from its annotations. */
export function failuresBefore({ metadata }: Pod): { readonly counted: number; readonly ignored: number } {
  const numberIn = (name: string): number => {
    const text = metadata.annotations?.[name] ?? "";
    return /^\d{1,9}$/.test(text) ? Number(text) : 0;
  };
  return { counted: numberIn(INDEX_FAILURES), ignored: numberIn(INDEX_IGNORED_FAILURES) };
}

/** End of a pod, from the best source available: containers, readiness, deletion, else creation. */
export function endOf(pod: Pod): number {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const byContainers = lastFinish(pod);
  if (byContainers !== undefined) return byContainers;
  const ready = findCondition(pod, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime !== undefined)
    return Date.parse(ready.lastTransitionTime);
  if (deletionTimestamp !== undefined)
    return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(creationTimestamp);
}

/** Last end of containers and sidecars; undefined unless all have ended. */
function lastFinish({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((each) => each.restartPolicy === "Always").map(({ name }) => name),
  );
  const isLasting = ({ name }: ContainerStatus): boolean => sidecars.has(name);
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(isLasting),
  ];
  let latest: number | undefined;
  for (const { state } of statuses) {
    const finishedAt = state.terminated?.finishedAt;
    if (finishedAt === undefined) return undefined;
    latest = Math.max(latest ?? 0, Date.parse(finishedAt));
  }
  return latest;
}
