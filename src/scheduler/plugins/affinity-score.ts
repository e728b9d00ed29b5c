/** Scores nodes by preferred affinities, both the pod's own and those of existing pods. */

import { SCORE_MAX } from "../framework/normal-score.ts";
import type { PluginContext, Scorer } from "../framework/scheduler-plugin.ts";
import { termSelects } from "../snapshot/affinity-term.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { SlotNumbers } from "../snapshot/slot-numbers.ts";
import type { TermRole } from "../snapshot/term-table.ts";
import { addCounts, type DomainSums, emptySums, sumAt } from "./domain-sums.ts";
import { namespaceLabels } from "./namespace-labels.ts";
import { termMatcher } from "./term-matcher.ts";

/** Weight of an existing pod's required affinity as a preference; upstream's default. */
const HARD_WEIGHT = 1;

interface Contribution {
  readonly topologyKey: string;
  readonly counts: SlotNumbers;
  readonly weight: number;
}

export function affinityScorer(pod: PodInfo, context: PluginContext): Scorer | undefined {
  const { snapshot } = context;
  const byKey = new Map<string, DomainSums>();
  let added = 0;
  for (const contribution of [...ownPreferences(pod, context), ...preferencesOfOthers(pod, context)]) {
    const { topologyKey } = contribution;
    const sums = byKey.get(topologyKey) ?? emptySums(snapshot.topology(topologyKey));
    byKey.set(topologyKey, sums);
    added += addCounts(sums, snapshot.order, contribution);
  }
  if (added === 0) return undefined;
  const all = [...byKey.values()];
  return {
    normal: stretch,
    score(node) {
      let sum = 0;
      for (const sums of all) sum += sumAt(sums, node);
      return sum;
    },
  };
}

function ownPreferences({ affinity }: PodInfo, { snapshot, cache }: PluginContext): readonly Contribution[] {
  const contribution = (sign: 1 | -1) => {
    return (term: (typeof affinity.preferredAffinity)[number]): Contribution => ({
      topologyKey: term.topologyKey,
      counts: snapshot.counts(termMatcher(term, cache)),
      weight: sign * term.weight,
    });
  };
  return [
    ...affinity.preferredAffinity.map(contribution(1)),
    ...affinity.preferredAntiAffinity.map(contribution(-1)),
  ];
}

const ROLES: readonly { readonly role: TermRole; readonly weightOf: (weight: number) => number }[] = [
  { role: "requiredAffinity", weightOf: () => HARD_WEIGHT },
  { role: "preferredAffinity", weightOf: (weight) => weight },
  { role: "preferredAntiAffinity", weightOf: (weight) => -weight },
];

function preferencesOfOthers(pod: PodInfo, { snapshot, cache }: PluginContext): readonly Contribution[] {
  if (!ROLES.some(({ role }) => snapshot.terms.has(role))) return [];
  const labels = namespaceLabels(pod.namespace, cache);
  const found: Contribution[] = [];
  for (const { role, weightOf } of ROLES) {
    for (const { term, counts } of snapshot.terms.groups(role)) {
      if (!termSelects(term, pod, labels)) continue;
      found.push({ topologyKey: term.topologyKey, counts, weight: weightOf(term.weight) });
    }
  }
  return found;
}

/** Maps the lowest score to 0 and the highest to 100. */
function stretch(scores: Float64Array, count: number): void {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < count; i++) {
    least = Math.min(least, scores[i] ?? 0);
    most = Math.max(most, scores[i] ?? 0);
  }
  const range = most - least;
  for (let i = 0; i < count; i++) {
    scores[i] = range > 0 ? Math.floor((SCORE_MAX * ((scores[i] ?? 0) - least)) / range) : 0;
  }
}
