/** Validates the spec of a job, in a Job and in a CronJob. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { JobSpec } from "../../../api/generated/types/batch-v1.ts";
import { dns1123Subdomain } from "../../../api/values/names.ts";
import { checkPodTemplate } from "../../pod/pod-spec-rules.ts";
import { checkChoice, checkCounts } from "../../rules/value-rules.ts";
import { checkFailurePolicy, checkSuccessPolicy } from "./job-policy-rules.ts";

/** Upper bounds from the size of an indexed job's status. */
const PARALLELISM_MAX = 100_000;
const FAILED_INDEXES_MAX = 100_000;
/** Above this many completions, stricter bounds apply to limits per index. */
const COMPLETIONS_SOFT_MAX = 100_000;
const HIGH_PARALLELISM_MAX = 10_000;
const HIGH_FAILED_INDEXES_MAX = 10_000;
const MANAGED_BY_MAX = 63;

export function checkJobSpec(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const counts = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ] as const;
  checkCounts(spec, counts, { path, errors });
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  if (spec.managedBy !== undefined) checkManagedBy(spec.managedBy, path.child("managedBy"), errors);
  const modes = ["NonIndexed", "Indexed"];
  checkChoice({ path: path.child("completionMode"), value: spec.completionMode, among: modes }, errors);
  if (spec.completionMode === "Indexed") checkIndexed(spec, path, errors);
  else checkNotIndexed(spec, path, errors);
  if (spec.podFailurePolicy !== undefined) checkFailurePolicy(spec, path.child("podFailurePolicy"), errors);
  checkReplacement(spec, path.child("podReplacementPolicy"), errors);
  checkPodTemplate(spec.template, { path: path.child("template") }, errors);
  checkRestart(spec, path.child("template", "spec", "restartPolicy"), errors);
}

/** Requires the form `example.com/controller`. */
function checkManagedBy(name: string, path: FieldPath, errors: FieldErrors): void {
  const slash = name.indexOf("/");
  if (name === "") errors.required(path);
  else if (slash < 1 || slash === name.length - 1) {
    errors.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    errors.invalidFor(path, name.slice(0, slash), dns1123Subdomain(name.slice(0, slash)));
    const rest = name.slice(slash + 1);
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest))
      errors.invalid(path, rest, "Invalid path (e.g. 'acme.io/foo')");
  }
  if (name.length > MANAGED_BY_MAX) errors.tooLong(path, MANAGED_BY_MAX);
}

function checkIndexed(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const { completions, parallelism = 0, maxFailedIndexes = 0 } = spec;
  if (completions === undefined)
    errors.required(path.child("completions"), "when completion mode is Indexed");
  if (parallelism > PARALLELISM_MAX) {
    const problem = `must be less than or equal to ${PARALLELISM_MAX} when completion mode is Indexed`;
    errors.invalid(path.child("parallelism"), parallelism, problem);
  }
  const failed = path.child("maxFailedIndexes");
  if (completions !== undefined && maxFailedIndexes > completions) {
    errors.invalid(failed, maxFailedIndexes, "must be less than or equal to completions");
  }
  if (maxFailedIndexes > FAILED_INDEXES_MAX) {
    errors.invalid(failed, maxFailedIndexes, `must be less than or equal to ${FAILED_INDEXES_MAX}`);
  }
  if ((completions ?? 0) > COMPLETIONS_SOFT_MAX && spec.backoffLimitPerIndex !== undefined) {
    checkManyIndexes(spec, path, errors);
  }
  if (spec.successPolicy !== undefined) checkSuccessPolicy(spec, path.child("successPolicy"), errors);
}

function checkManyIndexes(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const { maxFailedIndexes, parallelism = 0 } = spec;
  const problem = (most: number): string =>
    `must be less than or equal to ${most} when completions are above ${COMPLETIONS_SOFT_MAX} and used with backoff limit per index`;
  const failed = path.child("maxFailedIndexes");
  if (maxFailedIndexes === undefined) {
    errors.required(failed, `must be specified when completions is above ${COMPLETIONS_SOFT_MAX}`);
  }
  if (parallelism > HIGH_PARALLELISM_MAX) {
    errors.invalid(path.child("parallelism"), parallelism, problem(HIGH_PARALLELISM_MAX));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > HIGH_FAILED_INDEXES_MAX) {
    errors.invalid(failed, maxFailedIndexes, problem(HIGH_FAILED_INDEXES_MAX));
  }
}

function checkNotIndexed(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  for (const field of ["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] as const) {
    const value = spec[field];
    if (value !== undefined) errors.invalid(path.child(field), value, "requires indexed completion mode");
  }
}

/** A pod failure policy needs the final state of a pod, so replacements must wait for it. */
function checkReplacement(
  { podReplacementPolicy, podFailurePolicy }: JobSpec,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const among = podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  checkChoice({ path, value: podReplacementPolicy, among }, errors);
}

/** `Always` is the template's default, so it counts as absent. */
function checkRestart({ template, podFailurePolicy }: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const { restartPolicy = "Always" } = template.spec;
  if (restartPolicy === "Always") return errors.required(path, 'valid values: "OnFailure", "Never"');
  checkChoice({ path, value: restartPolicy, among: ["OnFailure", "Never"] }, errors);
  if (podFailurePolicy !== undefined && restartPolicy === "OnFailure") {
    errors.invalid(path, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

/** Warns that the status may have no room for all failed indexes. */
export function jobSpecWarnings(
  { completionMode, completions = 0, parallelism = 0 }: JobSpec,
  place: string,
): readonly string[] {
  if (completionMode !== "Indexed" || completions <= 100_000 || parallelism <= 10_000) return [];
  const what =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [`${place}: ${what}`];
}
