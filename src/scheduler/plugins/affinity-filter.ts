/** Filters nodes by required inter-pod affinities and anti-affinities. */

import {
  type FilterAnswer,
  type PluginContext,
  reject,
  type Rejection,
} from "../framework/scheduler-plugin.ts";
import { type AffinityTerm, termSelects } from "../snapshot/affinity-term.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { SlotNumbers } from "../snapshot/slot-numbers.ts";
import { addCounts, type DomainSums, emptySums, sumAt } from "./domain-sums.ts";
import { namespaceLabels } from "./namespace-labels.ts";
import { termMatcher, termsMatcher } from "./term-matcher.ts";

const AFFINITY = reject("InterPodAffinity", "node(s) didn't match pod affinity rules", false);
const ANTI_AFFINITY = reject("InterPodAffinity", "node(s) didn't match pod anti-affinity rules", true);
const EXISTING = reject("InterPodAffinity", "node(s) didn't satisfy existing pods anti-affinity rules", true);

type Check = (node: NodeInfo) => Rejection | undefined;

export function affinityFilter(pod: PodInfo, context: PluginContext): FilterAnswer {
  const checks = [
    ...ownAffinity(pod, context),
    ...ownAntiAffinity(pod, context),
    ...existingAntiAffinity(pod, context),
  ];
  if (checks.length === 0) return undefined;
  return {
    type: "check",
    check(node) {
      for (const check of checks) {
        const rejection = check(node);
        if (rejection !== undefined) return rejection;
      }
      return undefined;
    },
  };
}

/** The domain must have pods that match all terms. The first pod of a self-affine group may go anywhere. */
function ownAffinity(pod: PodInfo, context: PluginContext): readonly Check[] {
  const { snapshot, cache } = context;
  const { requiredAffinity: terms } = pod.affinity;
  if (terms.length === 0) return [];
  const counts = snapshot.counts(termsMatcher(terms, cache));
  const places = terms.map((term) => placesOf(term, { snapshot, counts }));
  const isFirst =
    places.every(({ total }) => total === 0) &&
    terms.every((term) => termSelects(term, pod, namespaceLabels(pod.namespace, cache)));
  return [
    (node) => {
      for (const { topology, sums } of places) {
        if (topology.domains.at(node.slot) < 0) return AFFINITY;
        if (!isFirst && sumAt({ topology, sums }, node) === 0) return AFFINITY;
      }
      return undefined;
    },
  ];
}

/** The domain must have no pod that an anti-affinity term selects. */
function ownAntiAffinity(pod: PodInfo, { snapshot, cache }: PluginContext): readonly Check[] {
  return pod.affinity.requiredAntiAffinity.flatMap((term) => {
    const places = placesOf(term, { snapshot, counts: snapshot.counts(termMatcher(term, cache)) });
    return places.total === 0 ? [] : [emptyOnly(places, ANTI_AFFINITY)];
  });
}

/** No pod of the domain may have an anti-affinity term that selects this pod. */
function existingAntiAffinity(pod: PodInfo, { snapshot, cache }: PluginContext): readonly Check[] {
  if (!snapshot.terms.has("requiredAntiAffinity")) return [];
  const labels = namespaceLabels(pod.namespace, cache);
  const byKey = new Map<string, DomainSums>();
  for (const { term, counts } of snapshot.terms.groups("requiredAntiAffinity")) {
    if (!termSelects(term, pod, labels)) continue;
    const sums = byKey.get(term.topologyKey) ?? emptySums(snapshot.topology(term.topologyKey));
    byKey.set(term.topologyKey, sums);
    addCounts(sums, snapshot.order, { counts, weight: 1 });
  }
  return [...byKey.values()].map((sums) => emptyOnly(sums, EXISTING));
}

interface Places extends DomainSums {
  readonly total: number;
}

function placesOf(
  { topologyKey }: AffinityTerm,
  { snapshot, counts }: { readonly snapshot: ClusterSnapshot; readonly counts: SlotNumbers },
): Places {
  const sums = emptySums(snapshot.topology(topologyKey));
  return { ...sums, total: addCounts(sums, snapshot.order, { counts, weight: 1 }) };
}

function emptyOnly(sums: DomainSums, rejection: Rejection): Check {
  return (node) => (sumAt(sums, node) > 0 ? rejection : undefined);
}
