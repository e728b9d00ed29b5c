/** Keeps pods from nodes with taints they do not tolerate, and prefers nodes without taints that make them less welcome. */

import type { Taint } from "../../api/generated/types/core-v1.ts";
import { findUntolerated, tolerates } from "../../resources/pod/node-selection.ts";
import { type PluginFactory, reject } from "../framework/plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

/** Which taint it was is not said: whoever sees the pod need not be somebody who may see nodes. */
const REJECTION = reject("TaintToleration", "node(s) had untolerated taint(s)", false);

export const taintToleration: PluginFactory = () => ({
  name: "TaintToleration",
  scope: "node",
  reactivations: {
    nodeAdded: (pod, { node }) => isTolerated(pod, node),
    nodeTaints: (pod, { node }) => isTolerated(pod, node),
  },
  filter: ({ pod }) => ({
    type: "check",
    check({ repellingTaints }) {
      const taint = findUntolerated(repellingTaints, pod.shape.spec.tolerations);
      return taint === undefined ? undefined : REJECTION;
    },
  }),
  score: ({ pod }) => ({
    normal: "reversed",
    score: ({ node }) => unwelcome(node.spec.taints, pod),
  }),
});

function isTolerated({ shape }: PodInfo, { repellingTaints }: NodeInfo): boolean {
  return findUntolerated(repellingTaints, shape.spec.tolerations) === undefined;
}

/** How many taints speak against the node without keeping the pod away. */
function unwelcome(taints: readonly Taint[] | undefined, { shape }: PodInfo): number {
  if (taints === undefined) return 0;
  const { tolerations = [] } = shape.spec;
  return taints.filter(
    (taint) => taint.effect === "PreferNoSchedule" && !tolerations.some((it) => tolerates(it, taint)),
  ).length;
}
