/**
 * Job. By default the server generates the selector from the job's uid and adds its labels to the template.
 * No two jobs then select the same pods.
 */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Job, JobSpec, PodFailurePolicy } from "../../api/generated/types/batch-v1.ts";
import type { Container, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { draftCopy } from "../rules/draft-copy.ts";
import { ageText, findTimeMs, humanDuration } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { isSame, ownValue } from "../rules/value-rules.ts";
import { checkJobSpec, jobSpecWarnings } from "./job/job-spec-rules.ts";
import { checkJobStatus, hasJobCondition } from "./job/job-status-rules.ts";
import { containerCells, selectorCell } from "./workload-cells.ts";
import { checkSelected, workloadWarnings } from "./workload-rules.ts";

const CONTROLLER_UID = "batch.kubernetes.io/controller-uid";
const JOB_NAME = "batch.kubernetes.io/job-name";
/** Older names of the labels, without a prefix. */
const LEGACY_CONTROLLER_UID = "controller-uid";
const LEGACY_JOB_NAME = "job-name";
const BACKOFF_LIMIT = 6;
/** Used with limits per index: then the job as a whole has no limit. */
const NO_BACKOFF_LIMIT = 2 ** 31 - 1;

const KEPT_PODS =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

export const job = defineKind<Job>("batch/v1", "Job", {
  defaults(draft) {
    const { spec, metadata } = draft;
    countDefaults(spec);
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : NO_BACKOFF_LIMIT;
    spec.completionMode ??= "NonIndexed";
    spec.suspend ??= false;
    spec.manualSelector ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
    failurePolicyDefaults(spec.podFailurePolicy);
    podTemplateDefaults(spec.template);
    const { labels } = spec.template.metadata;
    if (labels !== undefined) metadata.labels ??= { ...labels };
  },

  prepareCreate(draft) {
    if (draft.spec.manualSelector !== true) generateSelector(draft);
  },

  validate(object, errors) {
    const { spec } = object;
    checkGenerated(object, errors);
    checkJobSpec(spec, fieldPath("spec"), errors);
    if (spec.selector === undefined) errors.required("spec.selector");
    else checkSelector(spec.selector, spec.template, errors);
    checkHostnames(object, errors);
  },

  tolerates: isOldPodError,
  keepsDependents: true,
  deletionWarning: KEPT_PODS,

  validateUpdate(next, previous, errors) {
    checkCompletions(next.spec, previous.spec, errors);
    errors.immutable("spec.selector", next.spec.selector, previous.spec.selector);
    const template = isAtRest(previous) ? withDirectivesOf(next.spec, previous.spec) : previous.spec.template;
    errors.immutable("spec.template", next.spec.template, template);
    const fields = [
      "completionMode",
      "podFailurePolicy",
      "backoffLimitPerIndex",
      "managedBy",
      "successPolicy",
    ] as const;
    for (const field of fields)
      errors.immutable(fieldPath("spec", field), next.spec[field], previous.spec[field]);
  },

  validateStatus: checkJobStatus,

  warnings: (object, previous) =>
    previous !== undefined && isSame(object.spec, previous.spec)
      ? []
      : [...jobSpecWarnings(object.spec, "spec"), ...workloadWarnings(object, previous)],

  fields: ({ status }) => ({ "status.successful": String(status.succeeded ?? 0) }),

  cells(object, now) {
    const { spec } = object;
    return [
      object.metadata.name,
      stateText(object),
      completionsText(object),
      durationText(object, now),
      ageText(object, now),
      ...containerCells(spec.template.spec),
      selectorCell(spec.selector),
    ];
  },
});

/**
 * The default is one completion. A parallelism alone means a work queue, which has no number of completions.
 */
function countDefaults(spec: Draft<JobSpec>): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
}

/** The default status of a pod condition pattern is True. */
export function failurePolicyDefaults(policy: Draft<PodFailurePolicy> | undefined): void {
  for (const { onPodConditions = [] } of policy?.rules ?? []) {
    for (const pattern of onPodConditions) pattern.status ||= "True";
  }
}

/** Keeps labels that the client set; validation reports wrong ones. */
function generateSelector({ metadata, spec }: Draft<Job>): void {
  const uid = metadata.uid;
  const before = spec.template.metadata.labels;
  const labels = { ...generatedLabels(uid, metadata.name), ...before };
  const { template } = spec;
  spec.template = { ...template, metadata: { ...template.metadata, labels } };
  // A job without labels of its own has those of its pods, also the generated ones.
  if (metadata.labels === undefined || isSame(metadata.labels, before)) metadata.labels = { ...labels };
  spec.selector = {
    ...spec.selector,
    matchLabels: { [CONTROLLER_UID]: uid, ...spec.selector?.matchLabels },
  };
}

function generatedLabels(uid: string, name: string): Readonly<Record<string, string>> {
  return { [CONTROLLER_UID]: uid, [JOB_NAME]: name, [LEGACY_CONTROLLER_UID]: uid, [LEGACY_JOB_NAME]: name };
}

function checkGenerated({ metadata, spec }: Job, errors: FieldErrors): void {
  if (spec.manualSelector === true || spec.selector === undefined) return;
  const path = fieldPath("spec", "template", "metadata", "labels");
  const { labels } = spec.template.metadata;
  const expected = generatedLabels(metadata.uid, metadata.name);
  for (const key of [LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME, CONTROLLER_UID, JOB_NAME]) {
    const value = ownValue(labels, key);
    const problem = `must be '${expected[key]}'`;
    if (value === undefined) errors.required(path.key(key), problem);
    else if (value !== expected[key]) errors.invalid(path.key(key), labels, problem);
  }
  const { matchLabels = {}, matchExpressions = [] } = spec.selector;
  const isGenerated = Object.entries(matchLabels).every(([key, value]) => ownValue(expected, key) === value);
  if (isGenerated && matchExpressions.length === 0) return;
  errors.invalid("spec.selector", spec.selector, "`selector` not auto-generated");
}

function checkSelector(selector: LabelSelector, template: PodTemplateSpec, errors: FieldErrors): void {
  const before = errors.count;
  validateLabelSelector(selector, fieldPath("spec", "selector"), errors);
  if (errors.count > before) return;
  checkSelected({ selector, template }, fieldPath("spec", "template"), errors);
}

/** Host names of an indexed job's pods contain the index. */
function checkHostnames({ metadata, spec }: Job, errors: FieldErrors): void {
  const { completions = 0, completionMode } = spec;
  if (completionMode !== "Indexed" || completions <= 0) return;
  const longest = `${metadata.name}-${completions - 1}`;
  if (dns1123Label(longest).length === 0) return;
  const problem = `will not able to create pod with invalid DNS label: ${longest}`;
  errors.invalid("metadata.name", metadata.name, problem);
}

/** An indexed job may change its completions together with its parallelism. */
function checkCompletions(next: JobSpec, previous: JobSpec, errors: FieldErrors): void {
  const path = fieldPath("spec", "completions");
  if (next.completionMode !== "Indexed")
    return errors.immutable(path, next.completions, previous.completions);
  if (next.completions === undefined || next.completions === previous.completions) return;
  if (next.completions === next.parallelism) return;
  errors.invalid(path, next.completions, "can only be modified in tandem with spec.parallelism");
}

/**
 * A suspended job without pods may change placement and resources. A job that has run must also have the
 * condition Suspended.
 */
function isAtRest({ spec, status }: Job): boolean {
  const hasStopped = status.startTime === undefined || hasJobCondition(status, "Suspended");
  return spec.suspend === true && (status.active ?? 0) === 0 && hasStopped;
}

/** The previous template, with placement and resources from the next one. */
function withDirectivesOf(next: JobSpec, previous: JobSpec): PodTemplateSpec {
  const template = draftCopy(previous.template);
  const from = draftCopy(next.template);
  copyFields(template.metadata, from.metadata, ["labels", "annotations"]);
  copyFields(template.spec, from.spec, ["nodeSelector", "tolerations", "schedulingGates"]);
  copyResources(template.spec.containers, from.spec.containers);
  copyResources(template.spec.initContainers ?? [], from.spec.initContainers ?? []);
  const affinity = { ...template.spec.affinity };
  copyFields(affinity, { ...from.spec.affinity }, ["nodeAffinity"]);
  if (from.spec.affinity === undefined && Object.keys(affinity).length === 0) delete template.spec.affinity;
  else template.spec.affinity = affinity;
  return template;
}

function copyResources(to: Draft<Container>[], from: readonly Draft<Container>[]): void {
  for (const [i, container] of to.entries()) {
    const other = from[i];
    if (other !== undefined) copyFields(container, other, ["resources"]);
  }
}

function copyFields<T extends object>(to: T, from: T, fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    if (from[field] === undefined) delete to[field];
    else to[field] = from[field];
  }
}

function stateText({ metadata, status }: Job): string {
  if (hasJobCondition(status, "Complete")) return "Complete";
  if (hasJobCondition(status, "Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  const states = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
  return states.find((type) => hasJobCondition(status, type)) ?? "Running";
}

function completionsText({ spec, status }: Job): string {
  const { succeeded = 0 } = status;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const { parallelism = 0 } = spec;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Job, now: number): string {
  const start = findTimeMs(status.startTime);
  return start === undefined ? "" : humanDuration((findTimeMs(status.completionTime) ?? now) - start);
}
