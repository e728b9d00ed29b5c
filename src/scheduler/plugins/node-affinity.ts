/** Restricts pods to nodes by node selector and required node affinity; prefers nodes by preferred affinity. */

import type { NodeSelectorTerm } from "../../api/generated/types/core-v1.ts";
import { matchesNodeTerm, matchesPodNodeSelection } from "../../resources/pod/node-selection.ts";
import { intersect } from "../framework/node-filter-results.ts";
import { type PluginFactory, reject, rejectAll } from "../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

const REJECTION = reject("NodeAffinity", "node(s) didn't match Pod's node affinity/selector", false);
const CONFLICT = reject("NodeAffinity", "pod affinity terms conflict", false);

export const nodeAffinity: PluginFactory = () => ({
  name: "NodeAffinity",
  scope: "node",
  queueingHints: {
    nodeAdded: (pod, { node }) => isSelected(pod, node),
    nodeLabels: (pod, { node }) => isSelected(pod, node),
  },
  filter({ pod }) {
    const { spec } = pod.shape;
    const terms = requiredTerms(spec);
    if (terms === undefined && spec.nodeSelector === undefined) return undefined;
    const only = terms === undefined ? undefined : namedNodes(terms);
    if (only?.size === 0) return rejectAll(CONFLICT);
    return {
      type: "check",
      check: ({ node }) => (matchesPodNodeSelection(spec, node) ? undefined : REJECTION),
      ...(only === undefined ? {} : { only }),
    };
  },
  score({ pod }) {
    const preferred =
      pod.shape.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (preferred.length === 0) return undefined;
    return {
      normal: "proportional",
      score({ node }) {
        let sum = 0;
        for (const { weight, preference } of preferred) {
          if (weight !== 0 && matchesNodeTerm(preference, node)) sum += weight;
        }
        return sum;
      },
    };
  },
});

function isSelected({ shape }: PodInfo, { node }: NodeInfo): boolean {
  return matchesPodNodeSelection(shape.spec, node);
}

function requiredTerms({ affinity }: PodInfo["shape"]["spec"]): readonly NodeSelectorTerm[] | undefined {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

/** Names of the only possible nodes, if every term names some. Example: a DaemonSet's pod names one node. */
function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    let ofTerm: ReadonlySet<string> | undefined;
    for (const { key, operator, values = [] } of matchFields) {
      if (key === "metadata.name" && operator === "In") ofTerm = intersect(ofTerm, new Set(values));
    }
    if (ofTerm === undefined) return undefined;
    for (const name of ofTerm) names.add(name);
  }
  return names;
}
