/** Selects the pods of the same Services and the same controller. Pods without their own constraints are spread by this selector. */

import { ReplicaSet, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { ReplicationController, Service } from "../../api/generated/types/core-v1.ts";
import type { LabelRequirement } from "../../api/selectors/label-requirement.ts";
import {
  cachedLabelSelector,
  labelSelector,
  type LabelSelector,
  labelsMatch,
} from "../../api/selectors/label-selector.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

/** Undefined if the pod has no Service and no known controller. */
export function findDefaultSelector(pod: PodInfo, cache: CacheReader): LabelSelector | undefined {
  const requirements = [...ofServices(pod, cache), ...ofController(pod, cache)];
  return requirements.length === 0 ? undefined : labelSelector(requirements);
}

function ofServices({ namespace, labels }: PodInfo, cache: CacheReader): readonly LabelRequirement[] {
  return cache(Service)
    .indexed(SERVICES_BY_NAMESPACE, namespace)
    .flatMap(({ spec }) => {
      const wanted =
        spec.selector === undefined ? undefined : cachedLabelSelector({ matchLabels: spec.selector });
      return wanted !== undefined && labelsMatch(wanted, labels) ? wanted.requirements : [];
    });
}

export const SERVICES_BY_NAMESPACE = "namespace";

function ofController({ pod, namespace }: PodInfo, cache: CacheReader): readonly LabelRequirement[] {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return [];
  const key = { namespace, name: owner.name };
  switch (`${owner.apiVersion}/${owner.kind}`) {
    case "v1/ReplicationController":
      return Object.entries(cache(ReplicationController).find(key)?.spec.selector ?? {}).map(equality);
    case "apps/v1/ReplicaSet":
      return requirementsOf(cache(ReplicaSet).find(key)?.spec.selector);
    case "apps/v1/StatefulSet":
      return requirementsOf(cache(StatefulSet).find(key)?.spec.selector);
    default:
      return [];
  }
}

function requirementsOf(
  selector: Parameters<typeof cachedLabelSelector>[0] | undefined,
): readonly LabelRequirement[] {
  return selector === undefined ? [] : cachedLabelSelector(selector).requirements;
}

function equality([key, value]: readonly [string, string]): LabelRequirement {
  return { key, operator: "=", values: [value] };
}
