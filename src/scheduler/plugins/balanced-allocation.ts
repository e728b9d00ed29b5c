/** Prefers nodes whose use of cpu and memory the pod brings closer together, so that neither runs out while the other lies idle. */

import { SCORE_MAX } from "../framework/normal-score.ts";
import type { PluginFactory } from "../framework/plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";

/** For a pod that changes nothing; the worst change gives 50, the best 100. */
const UNCHANGED = (SCORE_MAX * 3) / 4;

export const balancedAllocation: PluginFactory = () => ({
  name: "NodeResourcesBalancedAllocation",
  scope: "node",
  reactivations: {},
  score({ pod }) {
    const { shape } = pod;
    // Pods that ask for nothing change no balance.
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

/** The standard deviation of the shares that are used: 0 when they are equal, 0.5 when one is all and the other nothing. */
function imbalance(
  { allocatable }: NodeInfo,
  used: { readonly milliCpu: number; readonly memory: number },
): number {
  if (allocatable.milliCpu <= 0 || allocatable.memory <= 0) return 0;
  const cpu = Math.min(1, used.milliCpu / allocatable.milliCpu);
  const memory = Math.min(1, used.memory / allocatable.memory);
  return Math.abs(cpu - memory) / 2;
}
