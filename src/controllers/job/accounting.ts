/**
 * Counts each pod that has ended exactly once, whatever fails in between. A pod keeps its finalizer until its uid stands in the status as
 * uncounted; then the finalizer goes; then the uid becomes a number. At any point the next pass can tell what has been done: a uid whose
 * pod has no finalizer any more is ready to be a number, a pod with the finalizer whose uid stands there is not noted again.
 */
import type { Job } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { judgeFailure } from "./failure-policy.ts";
import { findIndex, hasFailed, isIndexed, isTracked } from "./job-pods.ts";
import type { Observation } from "./observation.ts";
import type { Verdict } from "./verdict.ts";

/** Keeps the status small, and one huge Job from starving the rest. The others follow in the next pass. */
const UNCOUNTED_MAX = 500;

export interface Accounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Uids of pods that have ended and are no number yet. */
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
}

export interface AccountsPlan {
  readonly accounts: Accounts;
  /** Their finalizers go once the accounts are written. */
  readonly toRelease: readonly Pod[];
  /** More pods have ended than fit. */
  readonly isPartial: boolean;
}

export function planAccounts(seen: Observation, verdict: Verdict | undefined): AccountsPlan {
  const { job, pods } = seen;
  const tracked = pods.filter(isTracked);
  const known = countReleased(accountsOf(job), uidsOf(tracked));
  const notes = new Notes(job, known);
  const toRelease: Pod[] = [];
  const ended = tracked.filter((pod) => mayRelease(pod, seen, verdict));
  // Those that are noted already go first: they make room for the others.
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

/** Uids of pods that are no longer tracked become numbers. */
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

/** A failed pod that carries its index's count of failures stays until its successor carries it. */
function mayRelease(pod: Pod, { job, toReplace }: Observation, verdict: Verdict | undefined): boolean {
  const isOver = job.metadata.deletionTimestamp !== undefined || verdict !== undefined;
  if (isOver || pod.status.phase === "Succeeded") return true;
  if (!hasFailed(pod, job)) return false;
  const index = findIndex(pod, job);
  return index === undefined || toReplace.get(index)?.metadata.uid !== pod.metadata.uid;
}

/** The uids that wait to become numbers. */
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

  /** Successes of an indexed Job are known by their index and need no note. */
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

/** When the Job fails, all that are still at work have failed; when it has succeeded, what it stops has not. */
function countsAsFailed(pod: Pod, job: Job, verdict: Verdict | undefined): boolean {
  if (verdict?.type === "SuccessCriteriaMet" && pod.status.phase !== "Failed") return false;
  if (verdict?.type !== "FailureTarget" && !hasFailed(pod, job)) return false;
  return judgeFailure(job, pod).action !== "Ignore";
}
