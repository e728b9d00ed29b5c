/**
 * Validates the status of a job. Consistency rules check that a status does not contradict itself; update
 * rules check that an update keeps earlier facts. A consistency rule runs only when the update changes one of
 * its topics: an old violation does not block other writes.
 */

import { type FieldErrors, fieldPath } from "../../../api/errors/field-error.ts";
import type { Job, JobStatus } from "../../../api/generated/types/batch-v1.ts";
import { addNew, checkCounts, invalidWithoutValue, isSame } from "../../rules/value-rules.ts";
import { findOverlap, type IndexInterval, parseIndexes } from "./index-set.ts";

const PATH = fieldPath("status");
const CONDITIONS = PATH.child("conditions");

type ConditionType = "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

export function hasJobCondition({ conditions = [] }: JobStatus, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

export function checkJobStatus(next: Job, previous: Job, errors: FieldErrors): void {
  for (const { about, check } of CONSISTENCY_RULES) {
    const isTouched = about?.some((topic) => !isSame(topic(next.status), topic(previous.status)));
    if (isTouched !== false) check(next, errors);
  }
  for (const check of UPDATE_RULES) check(next, previous, errors);
}

/** A part of the status that an update may change. */
type Topic = (status: JobStatus) => unknown;

function field(name: keyof JobStatus): Topic {
  return (status) => status[name];
}

function condition(type: ConditionType): Topic {
  return (status) => hasJobCondition(status, type);
}

/** True for Complete and for Failed. */
function isFinished(status: JobStatus): boolean {
  return hasJobCondition(status, "Complete") || hasJobCondition(status, "Failed");
}

interface ConsistencyRule {
  /** Undefined for a rule that runs on every update. */
  readonly about?: readonly Topic[];
  readonly check: (job: Job, errors: FieldErrors) => void;
}

const CONSISTENCY_RULES: readonly ConsistencyRule[] = [
  { check: checkPodCounts },
  { check: checkUncounted },
  { about: [field("ready"), field("active")], check: checkReady },

  { about: [condition("Complete"), condition("Failed")], check: exclusive("Complete", "Failed") },
  {
    about: [condition("Complete"), condition("FailureTarget")],
    check: exclusive("Complete", "FailureTarget"),
  },
  { check: exclusive("SuccessCriteriaMet", "Failed") },
  { check: exclusive("SuccessCriteriaMet", "FailureTarget") },
  { about: [condition("Failed"), condition("FailureTarget")], check: preceded("Failed", "FailureTarget") },
  {
    about: [condition("Complete"), condition("SuccessCriteriaMet")],
    check: preceded("Complete", "SuccessCriteriaMet"),
  },

  { about: [isFinished, field("active")], check: onceFinished(checkNoneLeft("active")) },
  { about: [isFinished, field("terminating")], check: onceFinished(checkNoneLeft("terminating")) },
  { about: [isFinished, field("uncountedTerminatedPods")], check: onceFinished(checkAllCounted) },
  { about: [isFinished, field("startTime")], check: onceFinished(checkStarted) },
  { about: [condition("Complete"), field("completionTime")], check: checkCompletionTime },
  { about: [field("startTime"), field("completionTime")], check: checkTimeOrder },

  { about: [field("completedIndexes")], check: checkCompletedIndexes },
  { about: [field("failedIndexes")], check: checkFailedIndexes },
  { about: [field("completedIndexes"), field("failedIndexes")], check: checkDisjointIndexes },
];

function checkPodCounts({ status }: Job, errors: FieldErrors): void {
  checkCounts(status, ["active", "succeeded", "failed", "ready", "terminating"], { path: PATH, errors });
}

/** Each pod is in one list only, and once. */
function checkUncounted({ status: { uncountedTerminatedPods } }: Job, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const [i, uid] of (uncountedTerminatedPods?.[list] ?? []).entries()) {
      const at = PATH.child("uncountedTerminatedPods", list).index(i);
      if (uid === "") errors.invalid(at, uid, "must not be empty");
      else if (!addNew(seen, uid)) errors.duplicate(at, uid);
    }
  }
}

function checkReady({ status: { ready = 0, active = 0 } }: Job, errors: FieldErrors): void {
  if (ready > active) errors.invalid(PATH.child("ready"), ready, "cannot set more ready pods than active");
}

/** A job cannot finish, or be about to finish, in two ways. */
function exclusive(one: ConditionType, other: ConditionType): ConsistencyRule["check"] {
  return ({ status }, errors) => {
    if (!hasJobCondition(status, one) || !hasJobCondition(status, other)) return;
    invalidWithoutValue(CONDITIONS, `cannot set ${one}=True and ${other}=true conditions`, errors);
  };
}

/** The decision comes first, then the pods end, then the job finishes. */
function preceded(end: ConditionType, decision: ConditionType): ConsistencyRule["check"] {
  return ({ status }, errors) => {
    if (!hasJobCondition(status, end) || hasJobCondition(status, decision)) return;
    const problem = `cannot set ${end}=True condition without the ${decision}=true condition`;
    invalidWithoutValue(CONDITIONS, problem, errors);
  };
}

function onceFinished(check: ConsistencyRule["check"]): ConsistencyRule["check"] {
  return (job, errors) => {
    if (isFinished(job.status)) check(job, errors);
  };
}

function checkNoneLeft(count: "active" | "terminating"): ConsistencyRule["check"] {
  return ({ status: { [count]: left = 0 } }, errors) => {
    if (left > 0) errors.invalid(PATH.child(count), left, `${count}>0 is invalid for finished job`);
  };
}

function checkAllCounted({ status: { uncountedTerminatedPods } }: Job, errors: FieldErrors): void {
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length === 0) return;
  const problem = "uncountedTerminatedPods needs to be empty for finished job";
  errors.invalid(PATH.child("uncountedTerminatedPods"), uncountedTerminatedPods, problem);
}

/** A job without completions may finish while suspended, and never start. */
function checkStarted({ spec, status }: Job, errors: FieldErrors): void {
  const needsNoStart = spec.suspend === true && spec.completions === 0;
  if (status.startTime !== undefined || needsNoStart) return;
  errors.required(PATH.child("startTime"), "startTime is required for finished job");
}

/** Exactly the complete jobs have a completion time. */
function checkCompletionTime({ status }: Job, errors: FieldErrors): void {
  const at = PATH.child("completionTime");
  const { completionTime } = status;
  const isComplete = hasJobCondition(status, "Complete");
  if (isComplete && completionTime === undefined) {
    errors.required(at, "completionTime is required for Complete jobs");
  } else if (!isComplete && completionTime !== undefined) {
    errors.invalid(at, completionTime, "cannot set completionTime when there is no Complete=True condition");
  }
}

/** Times in normal form have one length and one zone, so that their texts sort by time. */
function checkTimeOrder({ status: { startTime, completionTime } }: Job, errors: FieldErrors): void {
  if (startTime === undefined || completionTime === undefined || completionTime >= startTime) return;
  const problem = "completionTime cannot be set before startTime";
  errors.invalid(PATH.child("completionTime"), completionTime, problem);
}

function checkCompletedIndexes({ spec, status }: Job, errors: FieldErrors): void {
  const { completedIndexes: text = "" } = status;
  const at = PATH.child("completedIndexes");
  if (text !== "" && spec.completionMode !== "Indexed") {
    errors.invalid(at, text, "cannot set non-empty completedIndexes when non-indexed completion mode");
  }
  const { problem } = readIndexes(text, spec.completions);
  if (problem !== undefined) errors.invalid(at, text, `error parsing completedIndexes: ${problem}`);
}

function checkFailedIndexes({ spec, status: { failedIndexes: text } }: Job, errors: FieldErrors): void {
  if (text === undefined) return;
  const at = PATH.child("failedIndexes");
  if (spec.backoffLimitPerIndex === undefined) {
    errors.invalid(at, text, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    return;
  }
  const { problem } = readIndexes(text, spec.completions);
  if (problem !== undefined) errors.invalid(at, text, `error parsing failedIndexes: ${problem}`);
}

/** Other rules report unreadable and misplaced indexes. */
function checkDisjointIndexes({ spec, status }: Job, errors: FieldErrors): void {
  const { completedIndexes = "", failedIndexes } = status;
  if (failedIndexes === undefined || spec.backoffLimitPerIndex === undefined) return;
  const completed = readIndexes(completedIndexes, spec.completions).intervals;
  const overlap = findOverlap(completed, readIndexes(failedIndexes, spec.completions).intervals);
  if (overlap === undefined) return;
  const problem = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
  errors.invalid(PATH.child("failedIndexes"), failedIndexes, problem);
}

interface ReadIndexes {
  readonly intervals: readonly IndexInterval[];
  readonly problem?: string;
}

function readIndexes(text: string, completions = 0): ReadIndexes {
  try {
    return { intervals: parseIndexes(text, completions) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { intervals: [], problem: error.message };
  }
}

type UpdateRule = (next: Job, previous: Job, errors: FieldErrors) => void;

const UPDATE_RULES: readonly UpdateRule[] = [
  lasting("Complete", "the terminal Complete"),
  lasting("Failed", "the terminal Failed"),
  lasting("FailureTarget", "the terminal FailureTarget"),
  lasting("SuccessCriteriaMet", "the SuccessCriteriaMet"),
  refuseLateCriteria,
  refuseLostFailures,
  refuseLostSuccesses,
  refuseNewCompletionTime,
  refuseNewStartTime,
];

/** A condition that is true stays true. */
function lasting(type: ConditionType, name: string): UpdateRule {
  return (next, previous, errors) => {
    if (!hasJobCondition(previous.status, type) || hasJobCondition(next.status, type)) return;
    invalidWithoutValue(CONDITIONS, `cannot disable ${name}=True condition`, errors);
  };
}

function refuseLateCriteria(next: Job, previous: Job, errors: FieldErrors): void {
  const isNew =
    hasJobCondition(next.status, "SuccessCriteriaMet") &&
    !hasJobCondition(previous.status, "SuccessCriteriaMet");
  if (!isNew || !hasJobCondition(previous.status, "Complete")) return;
  const problem = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
  invalidWithoutValue(CONDITIONS, problem, errors);
}

function refuseLostFailures({ status: { failed = 0 } }: Job, previous: Job, errors: FieldErrors): void {
  if (failed >= (previous.status.failed ?? 0)) return;
  errors.invalid(PATH.child("failed"), failed, "cannot decrease the failed counter");
}

/** An indexed job that shrinks loses the successes of removed indexes. */
function refuseLostSuccesses({ spec, status }: Job, previous: Job, errors: FieldErrors): void {
  const { succeeded = 0 } = status;
  const mayShrink = spec.completionMode === "Indexed" && spec.completions === spec.parallelism;
  if (mayShrink || succeeded >= (previous.status.succeeded ?? 0)) return;
  errors.invalid(PATH.child("succeeded"), succeeded, "cannot decrease the succeeded counter");
}

function refuseNewCompletionTime(next: Job, previous: Job, errors: FieldErrors): void {
  const { completionTime } = next.status;
  const before = previous.status.completionTime;
  if (completionTime === undefined || before === undefined || completionTime === before) return;
  errors.invalid(PATH.child("completionTime"), completionTime, "completionTime cannot be mutated");
}

/** A resumed job gets a new start time; its condition Suspended shows that. */
function refuseNewStartTime({ spec, status }: Job, previous: Job, errors: FieldErrors): void {
  const { startTime: before } = previous.status;
  if (before === undefined || status.startTime === before || spec.suspend === true) return;
  if (hasJobCondition(previous.status, "Suspended") && !hasJobCondition(status, "Suspended")) return;
  const problem = "field is immutable for unsuspended job once set";
  errors.invalid(PATH.child("startTime"), status.startTime ?? null, problem);
}
