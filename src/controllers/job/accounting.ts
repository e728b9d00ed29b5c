/**
 * Counts each ended pod exactly once, whichever step fails.
 *
 * A pod keeps its finalizer until the status lists its uid as uncounted. Then the finalizer is removed, then the uid becomes part of a
 * number. Each pass knows the next step: a listed uid without a finalizer is ready to be counted.
 */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { judgeFailure } from "./failure-policy.ts";
import { findIndex, hasFailed, isIndexed, isTracked } from "./job-pods.ts";
import type { Observation } from "./observation.ts";
import type { Verdict } from "./verdict.ts";

/** Bounds the status and keeps one huge Job from starving others. The next pass handles the rest. */
const UNCOUNTED_MAX = 500;

export interface Accounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Uids of ended pods that are not yet in the numbers. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
}

export interface AccountsPlan {
  readonly accounts: Accounts;
  /** Pods that lose their finalizer once the accounts are written. */
  readonly toRelease: readonly Pod[];
  /** More pods have ended than one pass handles. */
  readonly isPartial: boolean;
}

export function planAccounts(seen: Observation, verdict: Verdict | undefined): AccountsPlan {
  const { job, pods } = seen;
  const tracked = pods.filter(isTracked);
  const known = countReleased(accountsOf(job), uidsOf(tracked));
  const notes = new Notes(job, known);
  const toRelease: Pod[] = [];
  const ended = tracked.filter((pod) => mayRelease(pod, seen, verdict));
  // Pods already listed go first: they make room for the others.
  const noted = ended.filter((pod) => notes.has(pod));
  for (const pod of [...noted, ...ended.filter((each) => !notes.has(each))]) {
    if (toRelease.length >= Math.max(UNCOUNTED_MAX, noted.length)) break;
    toRelease.push(pod);
    notes.add(pod, verdict);
  }
  const { succeeded, failed } = known;
  const accounts = { succeeded, failed, uncounted: notes.uncounted };
  return { accounts, toRelease, isPartial: toRelease.length < ended.length };
}

/** Adds the uids of pods without a finalizer to the numbers. */
export function countReleased(accounts: Accounts, tracked: ReadonlySet<string>): Accounts {
  const { uncounted } = accounts;
  const still = {
    succeeded: uncounted.succeeded.filter((uid) => tracked.has(uid)),
    failed: uncounted.failed.filter((uid) => tracked.has(uid)),
  };
  return {
    succeeded: accounts.succeeded + uncounted.succeeded.length - still.succeeded.length,
    failed: accounts.failed + uncounted.failed.length - still.failed.length,
    uncounted: still,
  };
}

export function uidsOf(pods: readonly Pod[]): ReadonlySet<string> {
  return new Set(pods.map(({ metadata }) => metadata.uid));
}

export function hasUncounted({ uncounted }: Accounts): boolean {
  return uncounted.succeeded.length + uncounted.failed.length > 0;
}

function accountsOf({ status }: Job): Accounts {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = status;
  return {
    succeeded,
    failed,
    uncounted: { succeeded: uncounted?.succeeded ?? [], failed: uncounted?.failed ?? [] },
  };
}

/** A failed pod with its index's failure count stays until its replacement has the count. */
function mayRelease(pod: Pod, { job, toReplace }: Observation, verdict: Verdict | undefined): boolean {
  const isOver = job.metadata.deletionTimestamp !== undefined || verdict !== undefined;
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

  constructor(job: Job, { uncounted }: Accounts) {
    this.#job = job;
    this.#succeeded = new Set(uncounted.succeeded);
    this.#failed = new Set(uncounted.failed);
  }

  has({ metadata }: Pod): boolean {
    return this.#succeeded.has(metadata.uid) || this.#failed.has(metadata.uid);
  }

  get uncounted(): Accounts["uncounted"] {
    return { succeeded: [...this.#succeeded], failed: [...this.#failed] };
  }

  /** Successes of an indexed Job are recorded by index and need no uid. */
  add(pod: Pod, verdict: Verdict | undefined): void {
    const { uid } = pod.metadata;
    if (this.has(pod)) return;
    if (pod.status.phase === "Succeeded") {
      if (!isIndexed(this.#job)) this.#succeeded.add(uid);
      return;
    }
    const isPart = !isIndexed(this.#job) || findIndex(pod, this.#job) !== undefined;
    if (isPart && countsAsFailed(pod, this.#job, verdict)) this.#failed.add(uid);
  }
}

/** When a Job fails, its running pods count as failed. When it succeeds, the pods it stops do not. */
function countsAsFailed(pod: Pod, job: Job, verdict: Verdict | undefined): boolean {
  if (verdict?.type === "SuccessCriteriaMet" && pod.status.phase !== "Failed") return false;
  if (verdict?.type !== "FailureTarget" && !hasFailed(pod, job)) return false;
  return judgeFailure(job, pod).action !== "Ignore";
}
