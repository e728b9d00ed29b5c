/** Matches objects with the scopes of a quota. */
import type {
  Affinity,
  PersistentVolumeClaim,
  Pod,
  PodAffinity,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
} from "../../api/generated/types/core-v1.ts";
import { qosClass } from "../pod/pod-resources.ts";
import type { ApiObject } from "../rules/kind-rules.ts";
import type { CountedResource } from "./usage.ts";

type Requirement = Pick<ScopedResourceSelectorRequirement, "scopeName" | "operator" | "values">;

/** A quota without scopes covers all objects. Scopes restrict it to pods or claims that match all of them. */
export function quotaCovers({ spec }: ResourceQuota, object: ApiObject, resource: CountedResource): boolean {
  const requirements: readonly Requirement[] = [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" as const })),
    ...(spec.scopeSelector?.matchExpressions ?? []),
  ];
  if (requirements.length === 0) return true;
  if (resource.group !== "") return false;
  if (resource.name === "pods") return requirements.every((each) => podFits(object as Pod, each));
  if (resource.name !== "persistentvolumeclaims") return false;
  return requirements.every((each) => claimFits(object as PersistentVolumeClaim, each));
}

function podFits(pod: Pod, requirement: Requirement): boolean {
  const { spec } = pod;
  switch (requirement.scopeName) {
    case "Terminating":
      return hasDeadline(pod);
    case "NotTerminating":
      return !hasDeadline(pod);
    case "BestEffort":
      return qosClass(spec) === "BestEffort";
    case "NotBestEffort":
      return qosClass(spec) !== "BestEffort";
    case "PriorityClass":
      return selects(requirement, spec.priorityClassName === undefined ? [] : [spec.priorityClassName]);
    case "CrossNamespacePodAffinity":
      return reachesOtherNamespaces(spec.affinity);
    case "VolumeAttributesClass":
      return false;
  }
}

function hasDeadline({ spec }: Pod): boolean {
  return spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
}

/** The requested class, the current class, and the target class of a change in progress. */
function claimFits({ spec, status }: PersistentVolumeClaim, requirement: Requirement): boolean {
  if (requirement.scopeName !== "VolumeAttributesClass") return false;
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return selects(
    requirement,
    names.filter((name): name is string => name !== undefined && name !== ""),
  );
}

function selects({ operator, values = [] }: Requirement, names: readonly string[]): boolean {
  switch (operator) {
    case "Exists":
      return names.length > 0;
    case "DoesNotExist":
      return names.length === 0;
    case "In":
      return names.some((name) => values.includes(name));
    case "NotIn":
      return !names.some((name) => values.includes(name));
  }
}

function reachesOtherNamespaces(affinity: Affinity | undefined): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((each) =>
    termsOf(each).some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
    ),
  );
}

function termsOf(
  affinity: PodAffinity | undefined,
): NonNullable<PodAffinity["requiredDuringSchedulingIgnoredDuringExecution"]> {
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...preferred.map(({ podAffinityTerm }) => podAffinityTerm),
  ];
}
