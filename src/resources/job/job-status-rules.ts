/** What a job's controller may write into its status. */

import { type FieldErrors, fieldPath } from "../../api/field-error.ts";
import type { Job, JobStatus } from "../../api/generated/types/batch-v1.ts";
import { addNew, checkCounts, invalidWithoutValue } from "../value-rules.ts";
import { findOverlap, type IndexInterval, parseIndexes } from "./index-set.ts";

const PATH = fieldPath("status");
const CONDITIONS = PATH.child("conditions");

export function hasJobCondition({ conditions = [] }: JobStatus, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

export function checkJobStatus(next: Job, previous: Job, errors: FieldErrors): void {
  const { status } = next;
  checkCounts(status, ["active", "succeeded", "failed", "ready", "terminating"], { path: PATH, errors });
  checkUncounted(status, errors);
  checkTimes(status, errors);
  for (const problem of conditionProblems(status)) invalidWithoutValue(CONDITIONS, problem, errors);
  if (hasJobCondition(status, "Complete") || hasJobCondition(status, "Failed")) checkFinished(status, errors);
  checkIndexes(next, errors);
  if ((status.ready ?? 0) > (status.active ?? 0)) {
    errors.invalid(PATH.child("ready"), status.ready, "cannot set more ready pods than active");
  }
  checkProgress(next, previous, errors);
}

function checkUncounted({ uncountedTerminatedPods }: JobStatus, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const [i, uid] of (uncountedTerminatedPods?.[list] ?? []).entries()) {
      const at = PATH.child("uncountedTerminatedPods", list).index(i);
      if (uid === "") errors.invalid(at, uid, "must not be empty");
      else if (!addNew(seen, uid)) errors.duplicate(at, uid);
    }
  }
}

function checkTimes(status: JobStatus, errors: FieldErrors): void {
  const { startTime, completionTime } = status;
  const at = PATH.child("completionTime");
  const isComplete = hasJobCondition(status, "Complete");
  if (completionTime === undefined) {
    if (isComplete) errors.required(at, "completionTime is required for Complete jobs");
    return;
  }
  if (!isComplete) {
    errors.invalid(at, completionTime, "cannot set completionTime when there is no Complete=True condition");
  }
  // Times in normal form have one length and one zone, so that their texts are in order.
  if (startTime !== undefined && completionTime < startTime) {
    errors.invalid(at, completionTime, "completionTime cannot be set before startTime");
  }
}

function conditionProblems(status: JobStatus): readonly string[] {
  const has = (type: string): boolean => hasJobCondition(status, type);
  const isComplete = has("Complete");
  const isFailed = has("Failed");
  const isMet = has("SuccessCriteriaMet");
  const isDoomed = has("FailureTarget");
  const problems: readonly (readonly [boolean, string])[] = [
    [isComplete && isFailed, "cannot set Complete=True and Failed=true conditions"],
    [isComplete && isDoomed, "cannot set Complete=True and FailureTarget=true conditions"],
    [isFailed && !isDoomed, "cannot set Failed=True condition without the FailureTarget=true condition"],
    [
      isComplete && !isMet,
      "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    ],
    [isMet && isFailed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"],
    [isMet && isDoomed, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"],
  ];
  return problems.filter(([isBroken]) => isBroken).map(([, problem]) => problem);
}

function checkFinished(status: JobStatus, errors: FieldErrors): void {
  const { active = 0, terminating = 0, startTime, uncountedTerminatedPods } = status;
  if (active > 0) errors.invalid(PATH.child("active"), active, "active>0 is invalid for finished job");
  if (startTime === undefined)
    errors.required(PATH.child("startTime"), "startTime is required for finished job");
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0) {
    const problem = "uncountedTerminatedPods needs to be empty for finished job";
    errors.invalid(PATH.child("uncountedTerminatedPods"), uncountedTerminatedPods, problem);
  }
  if (terminating > 0) {
    errors.invalid(PATH.child("terminating"), terminating, "terminating>0 is invalid for finished job");
  }
}

function checkIndexes({ spec, status }: Job, errors: FieldErrors): void {
  const { completedIndexes = "", failedIndexes } = status;
  const completions = spec.completions ?? 0;
  const completed = findIndexes({ field: "completedIndexes", text: completedIndexes, completions }, errors);
  if (completedIndexes !== "" && spec.completionMode !== "Indexed") {
    const problem = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.invalid(PATH.child("completedIndexes"), completedIndexes, problem);
  }
  if (failedIndexes === undefined) return;
  const at = PATH.child("failedIndexes");
  if (spec.backoffLimitPerIndex === undefined) {
    const problem = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    return errors.invalid(at, failedIndexes, problem);
  }
  const failed = findIndexes({ field: "failedIndexes", text: failedIndexes, completions }, errors);
  const overlap = findOverlap(completed, failed);
  if (overlap === undefined) return;
  errors.invalid(at, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${overlap}`);
}

function findIndexes(
  {
    field,
    text,
    completions,
  }: { readonly field: string; readonly text: string; readonly completions: number },
  errors: FieldErrors,
): readonly IndexInterval[] {
  try {
    return parseIndexes(text, completions);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    errors.invalid(PATH.child(field), text, `error parsing ${field}: ${error.message}`);
    return [];
  }
}

/** What was once reported stays true. */
function checkProgress(next: Job, previous: Job, errors: FieldErrors): void {
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (!hasJobCondition(previous.status, type) || hasJobCondition(next.status, type)) continue;
    invalidWithoutValue(CONDITIONS, `cannot disable the terminal ${type}=True condition`, errors);
  }
  for (const counter of ["failed", "succeeded"] as const) {
    const count = next.status[counter] ?? 0;
    if (count >= (previous.status[counter] ?? 0)) continue;
    errors.invalid(PATH.child(counter), count, `cannot decrease the ${counter} counter`);
  }
  checkUnchangedTimes(next, previous, errors);
  checkCriteriaMet(next, previous, errors);
}

function checkCriteriaMet(next: Job, previous: Job, errors: FieldErrors): void {
  const wasMet = hasJobCondition(previous.status, "SuccessCriteriaMet");
  const isMet = hasJobCondition(next.status, "SuccessCriteriaMet");
  if (wasMet && !isMet) {
    invalidWithoutValue(CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition", errors);
  }
  if (!wasMet && isMet && hasJobCondition(previous.status, "Complete")) {
    const problem = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
    invalidWithoutValue(CONDITIONS, problem, errors);
  }
}

function checkUnchangedTimes(next: Job, previous: Job, errors: FieldErrors): void {
  const { completionTime, startTime } = next.status;
  const before = previous.status;
  if (
    completionTime !== undefined &&
    before.completionTime !== undefined &&
    completionTime !== before.completionTime
  ) {
    errors.invalid(PATH.child("completionTime"), completionTime, "completionTime cannot be mutated");
  }
  const isSuspended = next.spec.suspend === true;
  if (before.startTime !== undefined && before.startTime !== startTime && !isSuspended) {
    errors.required(PATH.child("startTime"), "startTime cannot be removed for unsuspended job");
  }
}
