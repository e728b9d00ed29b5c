/** PodGroup: pods of a workload that the scheduler starts together or not at all. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { PodGroup } from "../../api/generated/types/scheduling-v1alpha2.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import { checkConditions } from "../rules/condition-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkGroup, checkName, checkUnion, CLAIMS_MAX } from "./group-rules.ts";

const SPEC = fieldPath("spec");
/** Immutable fields: the whole spec. */
const FIXED = [
  "podGroupTemplateRef",
  "schedulingPolicy",
  "schedulingConstraints",
  "resourceClaims",
  "disruptionMode",
  "priorityClassName",
  "priority",
] as const;

export const podGroup = defineKind<PodGroup>("scheduling.k8s.io/v1alpha2", "PodGroup", {
  validateCreate({ spec }, errors) {
    const { podGroupTemplateRef: reference }: Partial<PodGroup["spec"]> = spec;
    if (reference !== undefined) checkReference(reference, errors);
    checkGroup(spec, SPEC, errors);
  },

  validateUpdate(next, previous, errors) {
    for (const field of FIXED) errors.immutable(SPEC.child(field), next.spec[field], previous.spec[field]);
  },

  statusKeeps: ALL_METADATA,
  validateStatus({ status }, _previous, errors) {
    const { conditions = [], resourceClaimStatuses = [] } = status;
    checkConditions(conditions, fieldPath("status", "conditions"), errors);
    const path = fieldPath("status", "resourceClaimStatuses");
    if (resourceClaimStatuses.length > CLAIMS_MAX)
      errors.tooMany(path, resourceClaimStatuses.length, CLAIMS_MAX);
    for (const [i, { resourceClaimName: name }] of resourceClaimStatuses.entries())
      if (name !== undefined)
        errors.invalidFor(path.index(i).child("resourceClaimName"), name, dns1123Subdomain(name));
  },

  cells: (it, now) => [it.metadata.name, policyText(it), workloadText(it), stateText(it), ageText(it, now)],
});

function checkReference(reference: PodGroup["spec"]["podGroupTemplateRef"], errors: FieldErrors): void {
  const { workload }: Partial<PodGroup["spec"]["podGroupTemplateRef"]> = reference;
  const path = SPEC.child("podGroupTemplateRef");
  checkUnion({ workload }, path, errors);
  if (workload === undefined) return;
  const { workloadName, podGroupTemplateName } = workload;
  const at = path.child("workload");
  checkName(workloadName, { path: at.child("workloadName"), rule: dns1123Subdomain }, errors);
  checkName(podGroupTemplateName, { path: at.child("podGroupTemplateName"), rule: dns1123Label }, errors);
}

function policyText({ spec }: PodGroup): string {
  return spec.schedulingPolicy.gang === undefined ? "Basic" : "Gang";
}

function stateText({ status }: PodGroup): string {
  const scheduled = (status.conditions ?? []).find(({ type }) => type === "PodGroupScheduled");
  if (scheduled === undefined) return "Pending";
  return scheduled.status === "True" ? "Scheduled" : scheduled.reason;
}

/** A group needs no workload, although its type requires one. */
function workloadText({ spec }: PodGroup): string {
  const { podGroupTemplateRef: template }: Partial<PodGroup["spec"]> = spec;
  const { workload }: Partial<PodGroup["spec"]["podGroupTemplateRef"]> = template ?? {};
  return workload?.workloadName ?? "";
}
