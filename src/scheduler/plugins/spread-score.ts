/** Scores nodes by soft constraints: fewer matching pods in the node's domains are better. */

import { SCORE_MAX } from "../framework/normal-score.ts";
import type { Scorer } from "../framework/scheduler-plugin.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { SlotNumbers } from "../snapshot/slot-numbers.ts";
import type { EligibleNodes } from "./eligible-nodes.ts";
import { HOSTNAME, type SpreadConstraint } from "./spread-constraint.ts";

export interface SpreadScoring {
  readonly constraints: readonly SpreadConstraint[];
  /** True for default constraints: nodes without the labels are scored too. */
  readonly isDefault: boolean;
  readonly candidates: readonly NodeInfo[];
  readonly snapshot: ClusterSnapshot;
  readonly eligible: EligibleNodes;
}

/** Score of a node that lacks a label; no other score is negative. */
const IGNORED = -1;

/** One constraint's part of the score: pods in the node's domain, times a weight, plus a constant. */
interface Part {
  readonly domains: SlotNumbers;
  /** Indexed by slot for hosts, else by domain. */
  readonly counts: ArrayLike<number>;
  readonly isByHost: boolean;
  /** Compensates for topologies with many domains, which have few pods each. */
  readonly weight: number;
  readonly constant: number;
}

export function spreadScorer(scoring: SpreadScoring): Scorer {
  const { constraints, snapshot, candidates, isDefault } = scoring;
  const topologies = constraints.map(({ topologyKey }) => snapshot.topology(topologyKey).domains);
  const isIgnored = ({ slot }: NodeInfo): boolean =>
    !isDefault && topologies.some((domains) => domains.at(slot) < 0);
  const scored = isDefault ? candidates : candidates.filter((node) => !isIgnored(node));
  const parts = constraints.map((constraint) =>
    makePart(constraint, { ...scoring, candidates: scored }, isIgnored),
  );
  return {
    normal: invert,
    score(node) {
      if (isIgnored(node)) return IGNORED;
      let sum = 0;
      for (const { domains, counts, isByHost, weight, constant } of parts) {
        const domain = domains.at(node.slot);
        if (domain >= 0) sum += (counts[isByHost ? node.slot : domain] ?? 0) * weight + constant;
      }
      return Math.round(sum);
    },
  };
}

function makePart(
  constraint: SpreadConstraint,
  scoring: SpreadScoring,
  isIgnored: (node: NodeInfo) => boolean,
): Part {
  const { snapshot, candidates } = scoring;
  const { domains, limit } = snapshot.topology(constraint.topologyKey);
  const constant = constraint.maxSkew - 1;
  if (constraint.topologyKey === HOSTNAME) {
    const counts = snapshot.counts(constraint.matcher).values;
    return { domains, counts, isByHost: true, weight: Math.log(candidates.length + 2), constant };
  }
  const isOffered = new Uint8Array(limit);
  let offered = 0;
  for (const { slot } of candidates) {
    const domain = domains.at(slot);
    if (domain < 0 || isOffered[domain] === 1) continue;
    isOffered[domain] = 1;
    offered++;
  }
  // Without labels of the topology there is nothing to count.
  if (offered === 0)
    return { domains, counts: new Float64Array(limit), isByHost: false, weight: 0, constant };
  const counts = sumByDomain(
    constraint,
    scoring,
    (node, domain) => isOffered[domain] === 1 && !isIgnored(node),
  );
  return { domains, counts, isByHost: false, weight: Math.log(offered + 2), constant };
}

/** Counts pods on all eligible nodes, not only on nodes that fit the pod now. */
function sumByDomain(
  { topologyKey, matcher, policies }: SpreadConstraint,
  { snapshot, eligible }: SpreadScoring,
  isCounted: (node: NodeInfo, domain: number) => boolean,
): Float64Array {
  const { domains, limit } = snapshot.topology(topologyKey);
  const counts = snapshot.counts(matcher).values;
  const sums = new Float64Array(limit);
  const isTrivial = eligible.isTrivial(policies);
  for (const node of snapshot.order) {
    const count = counts[node.slot] ?? 0;
    const domain = domains.at(node.slot);
    if (count === 0 || domain < 0 || !isCounted(node, domain)) continue;
    if (isTrivial || eligible.isEligible(node, policies)) sums[domain] = (sums[domain] ?? 0) + count;
  }
  return sums;
}

/** Maps the fewest pods to the highest score. */
function invert(scores: Float64Array, count: number): void {
  let least = Infinity;
  let most = 0;
  for (let i = 0; i < count; i++) {
    const score = scores[i] ?? 0;
    if (score === IGNORED) continue;
    least = Math.min(least, score);
    most = Math.max(most, score);
  }
  for (let i = 0; i < count; i++) {
    const score = scores[i] ?? 0;
    if (score === IGNORED) scores[i] = 0;
    else scores[i] = most === 0 ? SCORE_MAX : Math.floor((SCORE_MAX * (most + least - score)) / most);
  }
}
