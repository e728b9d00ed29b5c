/**
 * `matchLabelKeys`: a pod is compared with pods that have the same values of some labels as itself, for example the
 * same revision. On creation those values are written into the selector, where everyone else looks.
 */

import type { Pod, PodAffinity } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import type { Draft } from "../kind-rules.ts";
import { ownValue } from "../value-rules.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

interface KeyedTerm {
  labelSelector?: Draft<LabelSelector>;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

export function applyMatchLabelKeys(pod: Draft<Pod>): void {
  const { affinity, topologySpreadConstraints = [] } = pod.spec;
  const terms: KeyedTerm[] = [
    ...affinityTerms(affinity?.podAffinity),
    ...affinityTerms(affinity?.podAntiAffinity),
    ...topologySpreadConstraints,
  ];
  for (const term of terms) extendSelector(term, pod.metadata.labels);
}

function affinityTerms(affinity: Draft<PodAffinity> | undefined): KeyedTerm[] {
  const preferred = affinity?.[PREFERRED] ?? [];
  return [...(affinity?.[REQUIRED] ?? []), ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)];
}

function extendSelector(term: KeyedTerm, labels: Readonly<Record<string, string>> | undefined): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return;
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: "In" })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: "NotIn" })),
  ].flatMap(({ key, operator }) => {
    const value = ownValue(labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  if (added.length > 0)
    labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
}

/** The keys that a selector names more than once. */
export function repeatedKeys(selector: LabelSelector | undefined): ReadonlySet<string> {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  const repeated = new Set<string>();
  for (const { key } of selector?.matchExpressions ?? []) (seen.has(key) ? repeated : seen).add(key);
  return repeated;
}
