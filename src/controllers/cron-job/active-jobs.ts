/** Sorts a CronJob's Jobs: which still run, when the last one succeeded, which exceed the history limits. Pure. */
import type { CronJob, CronJobStatus, Job } from "../../api/generated/types/batch-v1.ts";
import type { ObjectReference } from "../../api/generated/types/core-v1.ts";

export interface JobSummary {
  readonly active: readonly ObjectReference[];
  readonly lastSuccessfulTime: string | undefined;
  /** Jobs that finished since the last reconcile. */
  readonly ended: readonly Job[];
  /** Running Jobs missing from the status: created before a crash, or by a user. */
  readonly unexpected: readonly Job[];
  /** References in the status without a Job. */
  readonly missing: readonly ObjectReference[];
}

export function readJobs({ status }: CronJob, jobs: readonly Job[]): JobSummary {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const known = status.active ?? [];
  const knownUids = new Set(known.map(({ uid }) => uid));
  const jobOf = ({ uid }: ObjectReference): Job | undefined => byUid.get(uid ?? "");
  return {
    active: known.filter((reference) => {
      const job = jobOf(reference);
      return job !== undefined && finishedConditionOf(job) === undefined;
    }),
    lastSuccessfulTime: latestSuccess(status, jobs),
    ended: jobs.filter((job) => knownUids.has(job.metadata.uid) && finishedConditionOf(job) !== undefined),
    unexpected: jobs.filter(
      (job) => !knownUids.has(job.metadata.uid) && finishedConditionOf(job) === undefined,
    ),
    missing: known.filter((reference) => jobOf(reference) === undefined),
  };
}

export function finishedConditionOf({ status }: Job): "Complete" | "Failed" | undefined {
  const ending = status.conditions?.find(
    (condition) =>
      (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
  return ending === undefined ? undefined : ending.type === "Complete" ? "Complete" : "Failed";
}

/** Normalized timestamps have the same length and zone, so their texts compare in order of time. */
function latestSuccess({ lastSuccessfulTime }: CronJobStatus, jobs: readonly Job[]): string | undefined {
  let latest = lastSuccessfulTime;
  for (const job of jobs) {
    const { completionTime } = job.status;
    if (finishedConditionOf(job) !== "Complete" || completionTime === undefined) continue;
    if (latest === undefined || completionTime > latest) latest = completionTime;
  }
  return latest;
}

/** Oldest finished Jobs beyond the history limits. */
export function planHistory({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const kept = jobs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const ended = (how: "Complete" | "Failed"): readonly Job[] =>
    kept.filter((job) => finishedConditionOf(job) === how).toSorted(compareStart);
  return [
    ...oldest(ended("Complete"), spec.successfulJobsHistoryLimit),
    ...oldest(ended("Failed"), spec.failedJobsHistoryLimit),
  ];
}

function oldest(jobs: readonly Job[], limit: number | undefined): readonly Job[] {
  return limit === undefined ? [] : jobs.slice(0, Math.max(0, jobs.length - limit));
}

/** Jobs without a start time come last. */
function compareStart(left: Job, right: Job): number {
  const [one, other] = [left.status.startTime ?? "~", right.status.startTime ?? "~"];
  if (one !== other) return one < other ? -1 : 1;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
