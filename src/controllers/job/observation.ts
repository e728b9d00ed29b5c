/** Observed state of a Job: its pods by state, and totals that include pods already counted. */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isActive } from "../../resources/pod/pod-state.ts";
import {
  countIndexes,
  hasIndex,
  readKnownIndexes,
  withIndexes,
} from "../../resources/workloads/job/index-set.ts";
import type { IndexInterval } from "../../resources/workloads/job/index-set.ts";
import { failureActionOf } from "./failure-policy.ts";
import {
  failuresBefore,
  findIndex,
  hasFailed,
  hasLimitPerIndex,
  isIndexed,
  isTerminating,
  isTracked,
} from "./job-pods.ts";

export interface Observation {
  readonly job: Job;
  readonly now: number;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  /** Totals of counted, uncounted and just ended pods. */
  readonly succeeded: number;
  readonly failed: number;
  /** Succeeded indexes of an indexed Job, including the latest successes. */
  readonly succeededIndexes: readonly IndexInterval[];
  /** Failed indexes of a Job with backoffLimitPerIndex. */
  readonly failedIndexes: readonly IndexInterval[];
  /** Failed pod to replace, by index. It carries the failure count and stays until its replacement has it. */
  readonly toReplace: ReadonlyMap<number, Pod>;
}

export function observe(job: Job, pods: readonly Pod[], now: number): Observation {
  const active = pods.filter(isActive);
  const terminating = pods.filter(isTerminating);
  const fresh = freshPods(job, pods);
  const { status } = job;
  const { uncountedTerminatedPods: uncounted } = status;
  const failed = fresh.filter((pod) => hasFailed(pod, job) && failureActionOf(job, pod).action !== "Ignore");
  const succeeded = fresh.filter((pod) => pod.status.phase === "Succeeded");
  const known = { job, now, pods, active, terminating };
  const indexes = observeIndexes(job, pods, active);
  return {
    ...known,
    ...indexes,
    failed: (status.failed ?? 0) + (uncounted?.failed ?? []).length + failed.length,
    succeeded: isIndexed(job)
      ? countIndexes(indexes.succeededIndexes)
      : (status.succeeded ?? 0) + (uncounted?.succeeded ?? []).length + succeeded.length,
  };
}

/** Tracked pods that are not in the uncounted lists. */
function freshPods(job: Job, pods: readonly Pod[]): readonly Pod[] {
  const { succeeded = [], failed = [] } = job.status.uncountedTerminatedPods ?? {};
  const waiting = new Set([...succeeded, ...failed]);
  return pods.filter(
    (pod) =>
      isTracked(pod) &&
      !waiting.has(pod.metadata.uid) &&
      (!isIndexed(job) || findIndex(pod, job) !== undefined),
  );
}

function observeIndexes(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
): Pick<Observation, "succeededIndexes" | "failedIndexes" | "toReplace"> {
  if (!isIndexed(job)) return { succeededIndexes: [], failedIndexes: [], toReplace: new Map() };
  const { completions = 0 } = job.spec;
  const { completedIndexes = "", failedIndexes = "" } = job.status;
  const tracked = pods.filter(isTracked);
  const succeeded = withIndexes(
    readKnownIndexes(completedIndexes, completions),
    indexesOf(
      job,
      tracked.filter(({ status }) => status.phase === "Succeeded"),
    ),
  );
  const failedOnes = tracked.filter((pod) => endsIndex(pod, job));
  const failed = hasLimitPerIndex(job)
    ? withIndexes(
        readKnownIndexes(failedIndexes, completions),
        indexesOf(job, failedOnes).filter((index) => !hasIndex(succeeded, index)),
      )
    : [];
  const done = withIndexes(withIndexes(succeeded, expand(failed)), indexesOf(job, active));
  return {
    succeededIndexes: succeeded,
    failedIndexes: failed,
    toReplace: hasLimitPerIndex(job) ? failedToReplace(job, tracked, done) : new Map(),
  };
}

export function indexesOf(job: Job, pods: readonly Pod[]): readonly number[] {
  return pods.flatMap((pod) => findIndex(pod, job) ?? []);
}

function* expand(intervals: readonly IndexInterval[]): Iterable<number> {
  for (const { first, last } of intervals) for (let index = first; index <= last; index++) yield index;
}

/** True if this failure ends the pod's index: it is not retried. */
function endsIndex(pod: Pod, job: Job): boolean {
  if (!hasFailed(pod, job)) return false;
  const { action } = failureActionOf(job, pod);
  if (action === "FailIndex") return true;
  return action !== "Ignore" && failuresBefore(pod).counted >= (job.spec.backoffLimitPerIndex ?? 0);
}

function failedToReplace(
  job: Job,
  tracked: readonly Pod[],
  done: readonly IndexInterval[],
): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  for (const pod of tracked) {
    const index = hasFailed(pod, job) ? findIndex(pod, job) : undefined;
    if (index === undefined || hasIndex(done, index)) continue;
    const known = last.get(index);
    if (known === undefined || totalFailures(known) <= totalFailures(pod)) last.set(index, pod);
  }
  return last;
}

export function totalFailures(pod: Pod): number {
  const { counted, ignored } = failuresBefore(pod);
  return counted + ignored;
}
