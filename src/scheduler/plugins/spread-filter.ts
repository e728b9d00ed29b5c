/** Counts for hard constraints: pods per domain and the minimum over all domains. */

import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { DomainSums } from "./domain-sums.ts";
import type { EligibleNodes } from "./eligible-nodes.ts";
import type { SpreadConstraint } from "./spread-constraint.ts";

export interface HardSums extends DomainSums {
  readonly constraint: SpreadConstraint;
  /** Minimum over all domains; infinite without any domain. */
  readonly least: number;
}

/** Only nodes with the labels of all constraints count. */
export function hardSums(
  constraints: readonly SpreadConstraint[],
  snapshot: ClusterSnapshot,
  eligible: EligibleNodes,
): readonly HardSums[] {
  const topologies = constraints.map(({ topologyKey }) => snapshot.topology(topologyKey).domains.values);
  const isLabelled = ({ slot }: NodeInfo): boolean =>
    topologies.every((domains) => (domains[slot] ?? -1) >= 0);
  const nodes = constraints.length === 1 ? snapshot.order : snapshot.order.filter(isLabelled);
  return constraints.map((constraint) => sumUp(constraint, { snapshot, nodes, eligible }));
}

interface Counting {
  readonly snapshot: ClusterSnapshot;
  readonly nodes: readonly NodeInfo[];
  readonly eligible: EligibleNodes;
}

/** Marks a domain without an eligible node. */
const ABSENT = -1;

function sumUp(constraint: SpreadConstraint, { snapshot, nodes, eligible }: Counting): HardSums {
  const { policies, matcher, topologyKey, minDomains } = constraint;
  const topology = snapshot.topology(topologyKey);
  const counts = snapshot.counts(matcher);
  const sums = new Float64Array(topology.limit).fill(ABSENT);
  const isTrivial = eligible.isTrivial(policies);
  for (const node of nodes) {
    const domain = topology.domains.at(node.slot);
    if (domain < 0 || !(isTrivial || eligible.isEligible(node, policies))) continue;
    sums[domain] = Math.max(0, sums[domain] ?? 0) + counts.at(node.slot);
  }
  const present = sums.filter((sum) => sum !== ABSENT);
  let least = Infinity;
  for (const sum of present) least = Math.min(least, sum);
  return { constraint, topology, sums, least: present.length < minDomains ? 0 : least };
}
