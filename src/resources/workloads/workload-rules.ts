/** Defaults and validation that workload kinds share: a selector, and a template that it matches. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { PodTemplateSpec, Volume } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import {
  compileLabelSelector,
  labelsMatch,
  validateLabelSelector,
} from "../../api/selectors/label-selector.ts";
import { checkPodTemplate } from "../pod/pod-spec-rules.ts";
import { nameWarnings, podWarnings } from "../pod/pod-warnings.ts";
import { checkChoice, isSame } from "../rules/value-rules.ts";

export interface WorkloadSpec {
  /** The type requires the field, but clients may omit it. */
  readonly selector?: LabelSelector;
  readonly template: PodTemplateSpec;
}

export interface Workload {
  /** Error text: `empty selector is invalid for deployment`. */
  readonly emptySelector: string;
  /** Owner in the error text: `activeDeadlineSeconds in ReplicaSet is not Supported`. */
  readonly deadlineOwner: string;
  readonly addedVolumes?: readonly Volume[];
}

/** Requires a selector that is not empty, and a template for pods that run forever. */
export function checkWorkload(spec: WorkloadSpec, workload: Workload, errors: FieldErrors): void {
  const path = fieldPath("spec", "selector");
  const isUsable = checkSelector(spec.selector, { path, emptyDetail: workload.emptySelector }, errors);
  const template = fieldPath("spec", "template");
  if (isUsable) checkSelected(spec, template, errors);
  checkPodTemplate(spec.template, { path: template, addedVolumes: workload.addedVolumes ?? [] }, errors);
  checkRunsForEver(spec.template, { path: template, owner: workload.deadlineOwner }, errors);
}

/** Returns whether the selector can be matched with labels. */
function checkSelector(
  selector: LabelSelector | undefined,
  { path, emptyDetail }: { readonly path: FieldPath; readonly emptyDetail: string },
  errors: FieldErrors,
): boolean {
  if (selector === undefined) {
    errors.required(path);
    return false;
  }
  const before = errors.count;
  validateLabelSelector(selector, path, errors);
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0;
  if (isEmpty) errors.invalid(path, selector, emptyDetail);
  return errors.count === before;
}

/** Without a match the controller would create pods endlessly, because it would not find them. */
export function checkSelected(
  { selector, template }: WorkloadSpec,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { labels } = template.metadata;
  if (labelsMatch(compileLabelSelector(selector), labels)) return;
  errors.invalid(path.child("metadata", "labels"), labels, "`selector` does not match template `labels`");
}

export function checkRunsForEver(
  { spec }: PodTemplateSpec,
  { path, owner }: { readonly path: FieldPath; readonly owner: string },
  errors: FieldErrors,
): void {
  const restart = path.child("spec", "restartPolicy");
  checkChoice({ path: restart, value: spec.restartPolicy, among: ["Always"] }, errors);
  if (spec.activeDeadlineSeconds === undefined) return;
  const at = path.child("spec", "activeDeadlineSeconds");
  errors.forbidden(at, `activeDeadlineSeconds in ${owner} is not Supported`);
}

interface CollisionCount {
  readonly collisionCount?: number;
}

/** Names of revisions depend on the count, so that it never decreases. */
export function checkCollisionCount(
  next: CollisionCount,
  previous: CollisionCount,
  errors: FieldErrors,
): void {
  const { collisionCount = 0 } = next;
  if (collisionCount >= (previous.collisionCount ?? 0)) return;
  errors.invalid("status.collisionCount", collisionCount, "cannot be decremented");
}

interface Templated {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template?: PodTemplateSpec };
}

/** Warnings about the template, and on create about the name. Empty when the spec is unchanged. */
export function workloadWarnings(object: Templated, previous: Templated | undefined): readonly string[] {
  const { template } = object.spec;
  if (previous !== undefined && isSame(object.spec, previous.spec)) return [];
  return [
    ...(previous === undefined ? nameWarnings(object.metadata.name, "controller") : []),
    ...(template === undefined ? [] : podWarnings(template, "spec.template")),
  ];
}
