/**
 * Counts each ended pod exactly once, whichever step fails.
 *
 * A pod keeps its finalizer until the status lists its uid as uncounted. Then the finalizer is removed, then the uid becomes part of a
 * number. Each pass knows the next step: a listed uid without a finalizer is ready to be counted.
 */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { failureActionOf } from "./failure-policy.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { findIndex, hasFailed, isIndexed, isTracked } from "./job-pods.ts";
import type { Observation } from "./observation.ts";

/** Bounds the status and keeps one huge Job from starving others. The next pass handles the rest. */
const UNCOUNTED_MAX = 500;

export interface PodCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Uids of ended pods that are not yet in the numbers. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
}

export interface PodCountsPlan {
  readonly counts: PodCounts;
  /** Pods that lose their finalizer once the counts are written. */
  readonly toRelease: readonly Pod[];
  /** More pods have ended than one pass handles. */
  readonly isPartial: boolean;
}

export function planPodCounts(seen: Observation, outcome: JobOutcome | undefined): PodCountsPlan {
  const { job, pods } = seen;
  const tracked = pods.filter(isTracked);
  const known = countReleased(podCountsOf(job), uidsOf(tracked));
  const notes = new Notes(job, known);
  const toRelease: Pod[] = [];
  const ended = tracked.filter((pod) => mayRelease(pod, seen, outcome));
  // Pods already listed go first: they make room for the others.
  const noted = ended.filter((pod) => notes.has(pod));
  for (const pod of [...noted, ...ended.filter((each) => !notes.has(each))]) {
    if (toRelease.length >= Math.max(UNCOUNTED_MAX, noted.length)) break;
    toRelease.push(pod);
    notes.add(pod, outcome);
  }
  const { succeeded, failed } = known;
  const counts = { succeeded, failed, uncounted: notes.uncounted };
  return { counts, toRelease, isPartial: toRelease.length < ended.length };
}

/** Adds the uids of pods without a finalizer to the numbers. */
export function countReleased(counts: PodCounts, tracked: ReadonlySet<string>): PodCounts {
  const { uncounted } = counts;
  const still = {
    succeeded: uncounted.succeeded.filter((uid) => tracked.has(uid)),
    failed: uncounted.failed.filter((uid) => tracked.has(uid)),
  };
  return {
    succeeded: counts.succeeded + uncounted.succeeded.length - still.succeeded.length,
    failed: counts.failed + uncounted.failed.length - still.failed.length,
    uncounted: still,
  };
}

export function uidsOf(pods: readonly Pod[]): ReadonlySet<string> {
  return new Set(pods.map(({ metadata }) => metadata.uid));
}

export function hasUncounted({ uncounted }: PodCounts): boolean {
  return uncounted.succeeded.length + uncounted.failed.length > 0;
}

function podCountsOf({ status }: Job): PodCounts {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = status;
  return {
    succeeded,
    failed,
    uncounted: { succeeded: uncounted?.succeeded ?? [], failed: uncounted?.failed ?? [] },
  };
}

/** A failed pod with its index's failure count stays until its replacement has the count. */
function mayRelease(pod: Pod, { job, toReplace }: Observation, outcome: JobOutcome | undefined): boolean {
  const isOver = job.metadata.deletionTimestamp !== undefined || outcome !== undefined;
  if (isOver || pod.status.phase === "Succeeded") return true;
  if (!hasFailed(pod, job)) return false;
  const index = findIndex(pod, job);
  return index === undefined || toReplace.get(index)?.metadata.uid !== pod.metadata.uid;
}

/** Collects the uids for the uncounted lists. */
class Notes {
  readonly #job: Job;
  readonly #succeeded: Set<string>;
  readonly #failed: Set<string>;

  constructor(job: Job, { uncounted }: PodCounts) {
    this.#job = job;
    this.#succeeded = new Set(uncounted.succeeded);
    this.#failed = new Set(uncounted.failed);
  }

  has({ metadata }: Pod): boolean {
    return this.#succeeded.has(metadata.uid) || this.#failed.has(metadata.uid);
  }

  get uncounted(): PodCounts["uncounted"] {
    return { succeeded: [...this.#succeeded], failed: [...this.#failed] };
  }

  /** Successes of an indexed Job are recorded by index and need no uid. */
  add(pod: Pod, outcome: JobOutcome | undefined): void {
    const { uid } = pod.metadata;
    if (this.has(pod)) return;
    if (pod.status.phase === "Succeeded") {
      if (!isIndexed(this.#job)) this.#succeeded.add(uid);
      return;
    }
    const isPart = !isIndexed(this.#job) || findIndex(pod, this.#job) !== undefined;
    if (isPart && countsAsFailed(pod, this.#job, outcome)) this.#failed.add(uid);
  }
}

/** When a Job fails, its running pods count as failed. When it succeeds, the pods it stops do not. */
function countsAsFailed(pod: Pod, job: Job, outcome: JobOutcome | undefined): boolean {
  if (outcome?.type === "SuccessCriteriaMet" && pod.status.phase !== "Failed") return false;
  if (outcome?.type !== "FailureTarget" && !hasFailed(pod, job)) return false;
  return failureActionOf(job, pod).action !== "Ignore";
}
