/** Which pods a Job that goes on makes, and which it takes away. Pure. */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { countIndexes, firstMissing, withIndexes } from "../../resources/workloads/job/index-set.ts";
import { byProgress } from "../pods/victims.ts";
import { waitMs, waitOfIndexMs } from "./back-off.ts";
import { findIndex, hasLimitPerIndex, isIndexed, waitsForEnd } from "./job-pods.ts";
import { indexesOf } from "./observation.ts";
import type { Observation } from "./observation.ts";

/** Most pods created or deleted in one pass, so that one huge Job cannot starve the rest. */
const BATCH_MAX = 500;

/** Either of the two lists is empty: taking away goes first. */
export interface PodPlan {
  /** Whose work is not wanted any more: they count for nothing. */
  readonly surplus: readonly Pod[];
  /** One for each pod to make: its index, if the Job has indexes. */
  readonly missing: readonly (number | undefined)[];
  /** Until the back-off lets the next pod be made. */
  readonly waitMs: number | undefined;
}

export function planPods(seen: Observation): PodPlan {
  const { job, active } = seen;
  if (job.spec.suspend === true) return takeAway(active.slice(0, BATCH_MAX));
  const wanted = wantedActive(seen);
  const surplus = surplusPods(seen, Math.max(0, active.length - wanted)).slice(0, BATCH_MAX);
  if (surplus.length > 0) return takeAway(surplus);
  const missing = wanted - active.length - (waitsForEnd(job) ? seen.terminating.length : 0);
  return missing > 0 ? planCreation(seen, missing) : takeAway([]);
}

function takeAway(surplus: readonly Pod[]): PodPlan {
  return { surplus, missing: [], waitMs: undefined };
}

function wantedActive({ job, active, succeeded, failedIndexes }: Observation): number {
  const { completions, parallelism = 1 } = job.spec;
  // Once one worker has found the queue empty, the others are left to finish.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded - countIndexes(failedIndexes), parallelism));
}

/** Pods that double an index or have none go in any case; then as many as are too much, the least useful first. */
function surplusPods({ job, active }: Observation, atLeast: number): readonly Pod[] {
  const byUse = byProgress(active);
  if (!isIndexed(job)) return byUse.slice(0, atLeast);
  const kept = new Map<number, Pod>();
  for (const pod of byUse) {
    const index = findIndex(pod, job);
    if (index !== undefined) kept.set(index, pod);
  }
  const keepers = new Set(kept.values());
  const doubles = byUse.filter((pod) => !keepers.has(pod));
  const others = byUse.filter((pod) => keepers.has(pod));
  return [...doubles, ...others.slice(0, Math.max(0, atLeast - doubles.length))];
}

function planCreation(seen: Observation, missing: number): PodPlan {
  const { job } = seen;
  const count = Math.min(missing, BATCH_MAX);
  if (hasLimitPerIndex(job)) return planIndependent(seen, pendingIndexes(seen, count));
  const waiting = waitMs(seen);
  if (waiting > 0) return { ...takeAway([]), waitMs: waiting };
  const indexes = isIndexed(job)
    ? pendingIndexes(seen, count)
    : Array.from({ length: count }, () => undefined);
  return { ...takeAway([]), missing: indexes };
}

/** Each index has its own back-off; the others do not wait for it. */
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
