/** Plans which pods a running Job creates and deletes. Pure. */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { countIndexes, firstMissing, withIndexes } from "../../resources/workloads/job/index-set.ts";
import { jobDeletionOrder } from "../pods/deletion-order.ts";
import { waitMs, waitOfIndexMs } from "./back-off.ts";
import { findIndex, hasLimitPerIndex, isIndexed, waitsForEnd } from "./job-pods.ts";
import { indexesOf } from "./observation.ts";
import type { Observation } from "./observation.ts";

/** Upper bound of creations or deletions in one pass, so that one huge Job does not starve others. */
const BATCH_MAX = 500;

/** Either `surplus` or `missing` is empty: deletions go first. */
export interface PodPlan {
  /** Pods to delete; they do not count. */
  readonly surplus: readonly Pod[];
  /** One entry per pod to create: its index, or undefined for a Job without indexes. */
  readonly missing: readonly (number | undefined)[];
  /** Delay until the back-off allows the next pod. */
  readonly waitMs: number | undefined;
}

export function planPods(seen: Observation): PodPlan {
  const { job, active } = seen;
  if (job.spec.suspend === true) return deleteOnly(active.slice(0, BATCH_MAX));
  const wanted = wantedActive(seen);
  const surplus = surplusPods(seen, Math.max(0, active.length - wanted)).slice(0, BATCH_MAX);
  if (surplus.length > 0) return deleteOnly(surplus);
  const missing = wanted - active.length - (waitsForEnd(job) ? seen.terminating.length : 0);
  return missing > 0 ? planCreation(seen, missing) : deleteOnly([]);
}

function deleteOnly(surplus: readonly Pod[]): PodPlan {
  return { surplus, missing: [], waitMs: undefined };
}

function wantedActive({ job, active, succeeded, failedIndexes }: Observation): number {
  const { completions, parallelism = 1 } = job.spec;
  // A work queue is done after the first success; running workers may finish.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded - countIndexes(failedIndexes), parallelism));
}

/** Pods with a duplicate or missing index go in any case; further ones go least useful first. */
function surplusPods({ job, active }: Observation, atLeast: number): readonly Pod[] {
  const byUse = jobDeletionOrder(active);
  if (!isIndexed(job)) return byUse.slice(0, atLeast);
  const kept = new Map<number, Pod>();
  for (const pod of byUse) {
    const index = findIndex(pod, job);
    if (index !== undefined) kept.set(index, pod);
  }
  const keepers = new Set(kept.values());
  const duplicates = byUse.filter((pod) => !keepers.has(pod));
  const others = byUse.filter((pod) => keepers.has(pod));
  return [...duplicates, ...others.slice(0, Math.max(0, atLeast - duplicates.length))];
}

function planCreation(seen: Observation, missing: number): PodPlan {
  const { job } = seen;
  const count = Math.min(missing, BATCH_MAX);
  if (hasLimitPerIndex(job)) return planIndependent(seen, pendingIndexes(seen, count));
  const waiting = waitMs(seen);
  if (waiting > 0) return { ...deleteOnly([]), waitMs: waiting };
  const indexes = isIndexed(job)
    ? pendingIndexes(seen, count)
    : Array.from({ length: count }, () => undefined);
  return { ...deleteOnly([]), missing: indexes };
}

/** Each index has its own back-off. */
function planIndependent(seen: Observation, indexes: readonly number[]): PodPlan {
  const due: number[] = [];
  let soonest: number | undefined;
  for (const index of indexes) {
    const waiting = waitOfIndexMs(seen.toReplace.get(index), seen.now);
    if (waiting <= 0) due.push(index);
    else soonest = Math.min(soonest ?? waiting, waiting);
  }
  return { surplus: [], missing: due, waitMs: soonest };
}

function pendingIndexes(
  { job, active, terminating, succeededIndexes, failedIndexes }: Observation,
  count: number,
): readonly number[] {
  const busy = busyPods(job, active, terminating);
  const failed = failedIndexes.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
  const taken = withIndexes(succeededIndexes, [...failed, ...indexesOf(job, busy)]);
  return firstMissing(taken, { count, completions: job.spec.completions ?? 0 });
}

function busyPods(job: Job, active: readonly Pod[], terminating: readonly Pod[]): readonly Pod[] {
  return waitsForEnd(job) ? [...active, ...terminating] : active;
}
