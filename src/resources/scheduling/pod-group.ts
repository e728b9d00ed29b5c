/** PodGroup: the pods of a workload that start together or not at all. */

import type { PodGroup } from "../../api/generated/types/scheduling-v1alpha2.ts";
import { ageText } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";

export const podGroup = defineKind<PodGroup>("scheduling.k8s.io/v1alpha2", "PodGroup", {
  cells: (it, now) => [it.metadata.name, policyText(it), workloadText(it), stateText(it), ageText(it, now)],
});

function policyText({ spec }: PodGroup): string {
  return spec.schedulingPolicy.gang === undefined ? "Basic" : "Gang";
}

function stateText({ status }: PodGroup): string {
  const scheduled = (status.conditions ?? []).find(({ type }) => type === "PodGroupScheduled");
  if (scheduled === undefined) return "Pending";
  return scheduled.status === "True" ? "Scheduled" : scheduled.reason;
}

/** A group may stand alone, whatever its structure says. */
function workloadText({ spec }: PodGroup): string {
  const { podGroupTemplateRef: template }: Partial<PodGroup["spec"]> = spec;
  const { workload }: Partial<PodGroup["spec"]["podGroupTemplateRef"]> = template ?? {};
  return workload?.workloadName ?? "";
}
