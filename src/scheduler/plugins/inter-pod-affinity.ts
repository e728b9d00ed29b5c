/** Keeps pods together or apart, by the affinities of the pod and of existing pods. */

import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { PluginContext, PluginFactory } from "../framework/scheduler-plugin.ts";
import { termSelects } from "../snapshot/affinity-term.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { affinityFilter } from "./affinity-filter.ts";
import { affinityScorer } from "./affinity-score.ts";
import { namespaceLabels } from "./namespace-labels.ts";

export const interPodAffinity: PluginFactory = (context) => ({
  name: "InterPodAffinity",
  scope: "cluster",
  queueingHints: {
    nodeAdded: () => true,
    nodeLabels: () => true,
    namespaceLabels: () => true,
    podPlaced: (pod, event) => isWanted(pod, event, context),
    podFreed: (pod, event) => mayUnblock(pod, event, context),
  },
  filter: ({ pod }) => affinityFilter(pod, context),
  score: ({ pod }) => affinityScorer(pod, context),
});

type PodEvent = Extract<ClusterEvent, { readonly type: "podPlaced" | "podFreed" }>;

/** The placed pod matches a required affinity of the waiting one. */
function isWanted(pod: PodInfo, { pod: other }: PodEvent, { cache }: PluginContext): boolean {
  const labels = namespaceLabels(other.namespace, cache);
  return pod.affinity.requiredAffinity.some((term) => termSelects(term, other, labels));
}

/**
 * The removed pod conflicted with the waiting one in either direction. Or it was the last match of an affinity, and the waiting pod may now
 * be the first.
 */
function mayUnblock(pod: PodInfo, event: PodEvent, context: PluginContext): boolean {
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
