/** Explains why a pod fits on no node, in the words that `kubectl describe pod` shows. */

import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PluginName, Rejection } from "./scheduler-plugin.ts";

export interface Diagnosis {
  readonly nodeCount: number;
  /** Reason why no node was checked. */
  readonly all: Rejection | undefined;
  readonly byNode: ReadonlyMap<NodeInfo, Rejection>;
  /** Reason why nodes missing in `byNode` were not checked. */
  readonly others: Rejection | undefined;
}

export const NO_NODES_MESSAGE = "no nodes available to schedule pods";

/** Example: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` */
export function diagnosisText({ nodeCount, all, byNode, others }: Diagnosis): string {
  const head = `0/${String(nodeCount)} nodes are available:`;
  if (all !== undefined) return `${head} ${all.reasons.join(", ")}.`;
  const counts = new Map<string, number>();
  const count = ({ reasons }: Rejection, nodes: number): void => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + nodes);
  };
  for (const rejection of byNode.values()) count(rejection, 1);
  if (others !== undefined && byNode.size < nodeCount) count(others, nodeCount - byNode.size);
  // Sorted as texts, including the numbers: clients compare messages.
  const parts = [...counts].map(([reason, nodes]) => `${String(nodes)} ${reason}`).toSorted(byText);
  return parts.length === 0 ? head : `${head} ${parts.join(", ")}.`;
}

/** Plugins that rejected the pod. */
export function rejectors({ all, byNode, others }: Diagnosis): ReadonlySet<PluginName> {
  const found = new Set<PluginName>();
  for (const rejection of byNode.values()) found.add(rejection.plugin);
  if (all !== undefined) found.add(all.plugin);
  if (others !== undefined) found.add(others.plugin);
  return found;
}

/** True if deleting other pods on the node could make the pod fit. */
export function isResolvable({ all, byNode }: Diagnosis, node: NodeInfo): boolean {
  return all === undefined ? (byNode.get(node)?.isResolvable ?? false) : all.isResolvable;
}

function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
