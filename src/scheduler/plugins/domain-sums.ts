/** Sums of node counts by domain. */

import type { NodeInfo } from "../snapshot/node-info.ts";
import type { SlotNumbers } from "../snapshot/slot-numbers.ts";
import type { Topology } from "../snapshot/topology-table.ts";

export interface DomainSums {
  readonly topology: Topology;
  readonly sums: Float64Array;
}

export function emptySums(topology: Topology): DomainSums {
  return { topology, sums: new Float64Array(topology.limit) };
}

/** Sum of the node's domain; 0 for a node without a domain. */
export function sumAt({ topology, sums }: DomainSums, { slot }: NodeInfo): number {
  return sums[topology.domains.at(slot)] ?? 0;
}

/** Adds the counts of all nodes, times `weight`, to the sums of their domains. Returns the sum of the added counts. */
export function addCounts(
  { topology, sums }: DomainSums,
  nodes: readonly NodeInfo[],
  { counts, weight }: { readonly counts: SlotNumbers; readonly weight: number },
): number {
  const numbers = counts.values;
  const domains = topology.domains.values;
  let added = 0;
  for (const { slot } of nodes) {
    const count = numbers[slot] ?? 0;
    if (count === 0) continue;
    const domain = domains[slot] ?? -1;
    if (domain < 0) continue;
    sums[domain] = (sums[domain] ?? 0) + count * weight;
    added += count;
  }
  return added;
}
