/**
 * `matchLabelKeys` selects pods that share some label values with this pod, for example its revision. On
 * create the server writes the values into the selector, the only part that other components read.
 */

import type { Pod, PodAffinity } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { ownValue } from "../rules/value-rules.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

type Labels = Readonly<Record<string, string>> | undefined;

interface KeyedTerm {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** Replaces the changed parts of the spec. */
export function applyMatchLabelKeys({ spec, metadata }: Draft<Pod>): void {
  const { affinity, topologySpreadConstraints } = spec;
  const { labels } = metadata;
  if (topologySpreadConstraints !== undefined)
    spec.topologySpreadConstraints = topologySpreadConstraints.map((term) => extended(term, labels));
  if (affinity === undefined) return;
  const { podAffinity, podAntiAffinity } = affinity;
  spec.affinity = {
    ...affinity,
    ...(podAffinity !== undefined && { podAffinity: extendedAffinity(podAffinity, labels) }),
    ...(podAntiAffinity !== undefined && { podAntiAffinity: extendedAffinity(podAntiAffinity, labels) }),
  };
}

function extendedAffinity(affinity: Draft<PodAffinity>, labels: Labels): Draft<PodAffinity> {
  const { [REQUIRED]: required, [PREFERRED]: preferred } = affinity;
  const preferences = preferred?.map(({ weight, podAffinityTerm }) => ({
    podAffinityTerm: extended(podAffinityTerm, labels),
    weight,
  }));
  return {
    ...affinity,
    ...(required !== undefined && { [REQUIRED]: required.map((term) => extended(term, labels)) }),
    ...(preferences !== undefined && { [PREFERRED]: preferences }),
  };
}

function extended<T extends KeyedTerm>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return term;
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: "In" })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: "NotIn" })),
  ].flatMap(({ key, operator }) => {
    const value = ownValue(labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  if (added.length === 0) return term;
  const matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } };
}

/** Keys that a selector names more than once. */
export function repeatedKeys(selector: LabelSelector | undefined): ReadonlySet<string> {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  const repeated = new Set<string>();
  for (const { key } of selector?.matchExpressions ?? []) (seen.has(key) ? repeated : seen).add(key);
  return repeated;
}
