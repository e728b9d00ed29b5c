/** Keeps pods off nodes with untolerated taints, and prefers nodes with fewer untolerated PreferNoSchedule taints. */

import type { Taint } from "../../api/generated/types/core-v1.ts";
import { findUntolerated, tolerates } from "../../resources/pod/node-selection.ts";
import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

/** The message omits the taint: users who see the pod may have no right to read nodes. */
const REJECTION = reject("TaintToleration", "node(s) had untolerated taint(s)", false);

export const taintToleration: PluginFactory = () => ({
  name: "TaintToleration",
  scope: "node",
  queueingHints: {
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
    score: ({ node }) => countPreferences(node.spec.taints, pod),
  }),
});

function isTolerated({ shape }: PodInfo, { repellingTaints }: NodeInfo): boolean {
  return findUntolerated(repellingTaints, shape.spec.tolerations) === undefined;
}

/** Number of untolerated PreferNoSchedule taints. */
function countPreferences(taints: readonly Taint[] | undefined, { shape }: PodInfo): number {
  if (taints === undefined) return 0;
  const { tolerations = [] } = shape.spec;
  return taints.filter(
    (taint) => taint.effect === "PreferNoSchedule" && !tolerations.some((it) => tolerates(it, taint)),
  ).length;
}
