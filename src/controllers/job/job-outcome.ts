/** Decides if and how a Job ends. */
import type { Job, JobCondition } from "../../api/generated/types/batch-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { countIndexes, countOverlap, readKnownIndexes } from "../../resources/workloads/job/index-set.ts";
import type { IndexInterval } from "../../resources/workloads/job/index-set.ts";
import { failureActionOf } from "./failure-policy.ts";
import { hasFailed, hasLimitPerIndex, isIndexed } from "./job-pods.ts";
import type { Observation } from "./observation.ts";

export interface JobOutcome {
  /** Condition that announces the end. Complete or Failed follows once all pods have ended and are counted. */
  readonly type: "FailureTarget" | "SuccessCriteriaMet";
  readonly reason: string;
  readonly message: string;
}

/**
 * An announced outcome stays; failures go before successes. Undefined while the Job continues, or if its completion depends on the next
 * plan.
 */
export function findOutcome(seen: Observation): JobOutcome | undefined {
  return announced(seen.job) ?? judgeFailures(seen) ?? judgeIndexes(seen) ?? judgeSuccessPolicy(seen);
}

export const COMPLETIONS_REACHED: JobOutcome = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
};

/** Enough pods have succeeded and none is active. A work queue completes with its first success. */
export function isComplete({ job, succeeded }: Observation, activeNow: number): boolean {
  const { completions } = job.spec;
  return activeNow === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}

export function findTrue({ status }: Job, type: string): JobCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

const MANAGER = "kubernetes.io/job-controller";

/** False for Jobs of an external controller. */
export function isManagedHere({ spec: { managedBy = MANAGER } }: Job): boolean {
  return managedBy === MANAGER;
}

export function isFinished(job: Job): boolean {
  return findTrue(job, "Complete") !== undefined || findTrue(job, "Failed") !== undefined;
}

function announced(job: Job): JobOutcome | undefined {
  for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const condition = findTrue(job, type);
    if (condition !== undefined)
      return { type, reason: condition.reason ?? "", message: condition.message ?? "" };
  }
  return undefined;
}

function failure(reason: string, message: string): JobOutcome {
  return { type: "FailureTarget", reason, message };
}

function judgeFailures({ job, pods, failed, now }: Observation): JobOutcome | undefined {
  for (const pod of pods) {
    const outcome = hasFailed(pod, job) ? failureActionOf(job, pod) : undefined;
    if (outcome?.action === "FailJob") return failure("PodFailurePolicy", outcome.message);
  }
  if (failed > backoffLimit(job) || restartsTooOften(job, pods))
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  const deadline = deadlineOf(job);
  if (deadline !== undefined && now >= deadline)
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  return undefined;
}

function backoffLimit({ spec }: Job): number {
  return spec.backoffLimit ?? 6;
}

/** Container restarts of live pods count if the restartPolicy is OnFailure. */
function restartsTooOften(job: Job, pods: readonly Pod[]): boolean {
  if (job.spec.template.spec.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status.phase !== "Running" && status.phase !== "Pending") continue;
    for (const { restartCount } of [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ])
      restarts += restartCount;
  }
  const limit = backoffLimit(job);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Undefined without a deadline, and while the Job is not running. */
export function deadlineOf({ spec, status }: Job): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status.startTime === undefined || spec.suspend === true)
    return undefined;
  return Date.parse(status.startTime) + plainNumber(spec.activeDeadlineSeconds) * 1000;
}

function judgeIndexes({ job, succeededIndexes, failedIndexes }: Observation): JobOutcome | undefined {
  if (!hasLimitPerIndex(job)) return undefined;
  const { maxFailedIndexes, completions = 0 } = job.spec;
  const failed = countIndexes(failedIndexes);
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return failure("MaxFailedIndexesExceeded", message);
  }
  const isOver = failed > 0 && failed + countIndexes(succeededIndexes) >= completions;
  return isOver ? failure("FailedIndexes", "Job has failed indexes") : undefined;
}

function judgeSuccessPolicy({ job, succeededIndexes }: Observation): JobOutcome | undefined {
  if (!isIndexed(job) || succeededIndexes.length === 0) return undefined;
  const rules = job.spec.successPolicy?.rules ?? [];
  const at = rules.findIndex(({ succeededIndexes: text, succeededCount }) => {
    if (text === undefined)
      return succeededCount !== undefined && countIndexes(succeededIndexes) >= succeededCount;
    const required = readKnownIndexes(text, job.spec.completions ?? 0);
    return required.length > 0 && isEnough(required, { succeededIndexes, succeededCount });
  });
  if (at < 0) return undefined;
  const message = `Matched rules at index ${String(at)}`;
  return { type: "SuccessCriteriaMet", reason: "SuccessPolicy", message };
}

function isEnough(
  required: readonly IndexInterval[],
  {
    succeededIndexes,
    succeededCount,
  }: { readonly succeededIndexes: readonly IndexInterval[]; readonly succeededCount: number | undefined },
): boolean {
  const overlap = countOverlap(required, succeededIndexes);
  return overlap === countIndexes(required) || (succeededCount !== undefined && overlap >= succeededCount);
}
