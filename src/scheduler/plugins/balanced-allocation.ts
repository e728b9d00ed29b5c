/** Prefers nodes whose cpu and memory utilization the pod brings closer together. Otherwise one would run out while the other is idle. */

import { SCORE_MAX } from "../framework/normal-score.ts";
import type { PluginFactory } from "../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";

/** Score of an unchanged balance; the worst change scores 50, the best 100. */
const UNCHANGED = (SCORE_MAX * 3) / 4;

export const balancedAllocation: PluginFactory = () => ({
  name: "NodeResourcesBalancedAllocation",
  scope: "node",
  queueingHints: {},
  score({ pod }) {
    const { shape } = pod;
    // A pod without requests changes no balance.
    if (shape.requests.milliCpu === 0 && shape.requests.memory === 0) return undefined;
    return { normal: "none", score: (node) => improvement(shape, node) };
  },
});

function improvement({ requests }: PodShape, node: NodeInfo): number {
  const { requested } = node;
  const before = imbalance(node, requested);
  const after = imbalance(node, {
    milliCpu: requested.milliCpu + requests.milliCpu,
    memory: requested.memory + requests.memory,
  });
  return Math.floor(UNCHANGED + ((before - after) * SCORE_MAX) / 2);
}

/** Standard deviation of the used shares: 0 if they are equal, 0.5 if one is full and the other empty. */
function imbalance(
  { allocatable }: NodeInfo,
  used: { readonly milliCpu: number; readonly memory: number },
): number {
  if (allocatable.milliCpu <= 0 || allocatable.memory <= 0) return 0;
  const cpu = Math.min(1, used.milliCpu / allocatable.milliCpu);
  const memory = Math.min(1, used.memory / allocatable.memory);
  return Math.abs(cpu - memory) / 2;
}
