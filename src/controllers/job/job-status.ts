/** Builds the status of a Job. Pure. */
import type { Job, JobCondition, JobStatus } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import { countIndexes, formatIndexes } from "../../resources/workloads/job/index-set.ts";
import { findTrue } from "./job-outcome.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { hasLimitPerIndex, isIndexed } from "./job-pods.ts";
import type { Observation } from "./observation.ts";
import { hasUncounted } from "./pod-counts.ts";
import type { PodCounts } from "./pod-counts.ts";

export interface JobFindings {
  readonly seen: Observation;
  readonly outcome: JobOutcome | undefined;
  readonly counts: PodCounts;
  /** Active pods after the actions of this pass. */
  readonly active: readonly Pod[];
  readonly terminating: number;
}

export function statusOf(findings: JobFindings): JobStatus {
  const { seen, counts, active, terminating } = findings;
  const { job, succeededIndexes, failedIndexes } = seen;
  const succeeded = isIndexed(job) ? countIndexes(succeededIndexes) : counts.succeeded;
  const completedIndexes = formatIndexes(succeededIndexes);
  const conditions = conditionsOf(findings);
  const startTime = startTimeOf(findings);
  const { completionTime } = job.status;
  return {
    ...(active.length > 0 && { active: active.length }),
    ready: active.filter(isReady).length,
    terminating,
    ...(succeeded > 0 && { succeeded }),
    ...(counts.failed > 0 && { failed: counts.failed }),
    uncountedTerminatedPods: uncountedOf(counts),
    ...(isIndexed(job) && completedIndexes !== "" && { completedIndexes }),
    ...(hasLimitPerIndex(job) && { failedIndexes: formatIndexes(failedIndexes) }),
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** Adds the condition Complete or Failed. */
export function endedStatus(findings: JobFindings, outcome: JobOutcome): JobStatus {
  const status = statusOf(findings);
  const type = outcome.type === "FailureTarget" ? "Failed" : "Complete";
  const { reason, message } = outcome;
  const now = timeText(findings.seen.now);
  return {
    ...status,
    ...(type === "Complete" && { completionTime: laterOf(now, status.startTime) }),
    conditions: [...(status.conditions ?? []), condition({ type, reason, message }, now)],
  };
}

/** The clock may have been set back, or another process set startTime. The server rejects a completionTime before it. */
function laterOf(now: string, startTime = now): string {
  return startTime > now ? startTime : now;
}

/** All pods have ended and are counted. */
export function hasEnded({ outcome, counts, terminating, active }: JobFindings): boolean {
  return outcome !== undefined && !hasUncounted(counts) && terminating + active.length === 0;
}

function uncountedOf({ uncounted }: PodCounts): NonNullable<JobStatus["uncountedTerminatedPods"]> {
  const { succeeded, failed } = uncounted;
  return { ...(succeeded.length > 0 && { succeeded }), ...(failed.length > 0 && { failed }) };
}

/** startTime is set when the Job first runs, and anew when it resumes. A finished Job has always started. */
function startTimeOf({ seen: { job, now }, outcome }: JobFindings): string | undefined {
  const { startTime } = job.status;
  if (outcome !== undefined) return startTime ?? (needsNoStart(job) ? undefined : timeText(now));
  if (job.spec.suspend === true) return undefined;
  return findTrue(job, "Suspended") === undefined && startTime !== undefined ? startTime : timeText(now);
}

function needsNoStart({ spec }: Job): boolean {
  return spec.suspend === true && spec.completions === 0;
}

/** A Job that is ending or being deleted is neither suspended nor resumed. */
function conditionsOf({ seen: { job, now }, outcome }: JobFindings): readonly JobCondition[] {
  const { conditions = [] } = job.status;
  if (outcome !== undefined) {
    return findTrue(job, outcome.type) === undefined
      ? [...conditions, condition(outcome, timeText(now))]
      : conditions;
  }
  return job.metadata.deletionTimestamp === undefined ? withSuspension(job, now) : conditions;
}

function withSuspension(job: Job, now: number): readonly JobCondition[] {
  const { conditions = [] } = job.status;
  const known = conditions.find(({ type }) => type === "Suspended");
  const isSuspended = job.spec.suspend === true;
  if ((known?.status === "True") === isSuspended) return conditions;
  const change = isSuspended
    ? { status: "True", reason: "JobSuspended", message: "Job suspended" }
    : { status: "False", reason: "JobResumed", message: "Job resumed" };
  const next = condition({ type: "Suspended", ...change }, timeText(now));
  return known === undefined
    ? [...conditions, next]
    : conditions.map((each) => (each === known ? next : each));
}

function condition(
  {
    type,
    status = "True",
    reason,
    message,
  }: { readonly type: string; readonly status?: string; readonly reason: string; readonly message: string },
  now: string,
): JobCondition {
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}
