/** Keeps pods together or apart: what the pod wants of those that are there, and what those want of it. */

import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PluginContext, PluginFactory } from "../framework/plugin.ts";
import { termSelects } from "../snapshot/affinity-term.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { affinityFilter } from "./affinity-filter.ts";
import { affinityScorer } from "./affinity-score.ts";
import { namespaceLabels } from "./namespace-labels.ts";

export const interPodAffinity: PluginFactory = (context) => ({
  name: "InterPodAffinity",
  scope: "cluster",
  reactivations: {
    nodeAdded: () => true,
    nodeLabels: () => true,
    namespaceLabels: () => true,
    podPlaced: (pod, event) => isWanted(pod, event, context),
    podFreed: (pod, event) => isUnwanted(pod, event, context),
  },
  filter: ({ pod }) => affinityFilter(pod, context),
  score: ({ pod }) => affinityScorer(pod, context),
});

type PodEvent = Extract<ClusterEvent, { readonly type: "podPlaced" | "podFreed" }>;

/** A pod that the waiting one wants to be with; or one whose labels changed, so that it is no longer in the way. */
function isWanted(pod: PodInfo, { pod: other }: PodEvent, { cache }: PluginContext): boolean {
  const labels = namespaceLabels(other.namespace, cache);
  return pod.affinity.requiredAffinity.some((term) => termSelects(term, other, labels));
}

/** A pod that the waiting one wants to be apart from, or that wants to be apart from it; or the last one that it wanted to be with. */
function isUnwanted(pod: PodInfo, event: PodEvent, context: PluginContext): boolean {
  const { cache } = context;
  const { pod: other } = event;
  const labels = namespaceLabels(other.namespace, cache);
  const own = namespaceLabels(pod.namespace, cache);
  return (
    pod.affinity.requiredAntiAffinity.some((term) => termSelects(term, other, labels)) ||
    other.affinity.requiredAntiAffinity.some((term) => termSelects(term, pod, own)) ||
    isWanted(pod, event, context)
  );
}
