/** Keeps pods off cordoned nodes (`kubectl cordon`), unless they tolerate it. */

import type { Taint } from "../../api/generated/types/core-v1.ts";
import { findUntolerated } from "../../resources/pod/node-selection.ts";
import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";

const REJECTION = reject("NodeUnschedulable", "node(s) were unschedulable", false);
const TAINTS: readonly Taint[] = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];

export const nodeUnschedulable: PluginFactory = () => ({
  name: "NodeUnschedulable",
  scope: "node",
  queueingHints: {
    nodeAdded: (_, { node }) => node.node.spec.unschedulable !== true,
    nodeTaints: (_, { node }) => node.node.spec.unschedulable !== true,
  },
  filter({ pod }) {
    if (findUntolerated(TAINTS, pod.shape.spec.tolerations) === undefined) return undefined;
    return {
      type: "check",
      check: ({ node }) => (node.spec.unschedulable === true ? REJECTION : undefined),
    };
  },
});
