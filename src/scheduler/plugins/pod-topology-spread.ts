/** Spreads pods over domains: hard constraints bound the difference between domains, soft ones prefer the emptier domain. */

import type { ClusterEvent } from "../framework/cluster-event.ts";
import {
  type FilterAnswer,
  type PluginContext,
  type PluginFactory,
  reject,
  type Scorer,
} from "../framework/scheduler-plugin.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";
import { findDefaultSelector } from "./default-selector.ts";
import { EligibleNodes } from "./eligible-nodes.ts";
import { compileConstraints, defaultConstraints, type SpreadConstraint } from "./spread-constraint.ts";
import { hardSums, type HardSums } from "./spread-filter.ts";
import { spreadScorer } from "./spread-score.ts";

const REJECTION = reject("PodTopologySpread", "node(s) didn't match pod topology spread constraints", true);
const UNLABELLED = reject(
  "PodTopologySpread",
  "node(s) didn't match pod topology spread constraints (missing required label)",
  false,
);

export const podTopologySpread: PluginFactory = (context) => {
  const eligible = new WeakMap<PodShape, EligibleNodes>();
  const eligibleFor = (shape: PodShape): EligibleNodes => {
    const found = eligible.get(shape) ?? new EligibleNodes(shape);
    eligible.set(shape, found);
    return found;
  };
  return {
    name: "PodTopologySpread",
    scope: "cluster",
    queueingHints: {
      nodeAdded: (pod, { node }) => isPlaced(pod, node),
      nodeRemoved: () => true,
      nodeLabels: () => true,
      nodeTaints: () => true,
      podPlaced: isCounted,
      podFreed: isCounted,
    },
    filter: ({ pod }) => spreadFilter(pod, context, eligibleFor(pod.shape)),
    score({ pod }, candidates): Scorer | undefined {
      const { constraints, isDefault } = softConstraints(pod, context);
      if (constraints.length === 0) return undefined;
      const { snapshot } = context;
      return spreadScorer({ constraints, isDefault, candidates, snapshot, eligible: eligibleFor(pod.shape) });
    },
  };
};

function spreadFilter(pod: PodInfo, { snapshot }: PluginContext, eligible: EligibleNodes): FilterAnswer {
  const constraints = compileConstraints(pod, "DoNotSchedule");
  if (constraints.length === 0) return undefined;
  const all = hardSums(constraints, snapshot, eligible);
  return {
    type: "check",
    check(node) {
      for (const sums of all) {
        const rejection = checkConstraint(sums, node);
        if (rejection !== undefined) return rejection;
      }
      return undefined;
    },
  };
}

function checkConstraint(hard: HardSums, { slot }: NodeInfo): typeof REJECTION | undefined {
  const domain = hard.topology.domains.at(slot);
  if (domain < 0) return UNLABELLED;
  const { maxSkew, countsItself } = hard.constraint;
  const skew = Math.max(0, hard.sums[domain] ?? 0) + (countsItself ? 1 : 0) - hard.least;
  return skew > maxSkew ? REJECTION : undefined;
}

interface Soft {
  readonly constraints: readonly SpreadConstraint[];
  readonly isDefault: boolean;
}

function softConstraints(pod: PodInfo, { cache }: PluginContext): Soft {
  if (pod.shape.spec.topologySpreadConstraints !== undefined) {
    return { constraints: compileConstraints(pod, "ScheduleAnyway"), isDefault: false };
  }
  const selector = findDefaultSelector(pod, cache);
  return { constraints: selector === undefined ? [] : defaultConstraints(pod, selector), isDefault: true };
}

function isPlaced(pod: PodInfo, { node }: NodeInfo): boolean {
  const { labels = {} } = node.metadata;
  return compileConstraints(pod, "DoNotSchedule").every(({ topologyKey }) =>
    Object.hasOwn(labels, topologyKey),
  );
}

type PodEvent = Extract<ClusterEvent, { readonly type: "podPlaced" | "podFreed" }>;

/** Only pods that a constraint counts are relevant. A freed pod was counted before it started to terminate. */
function isCounted(pod: PodInfo, { pod: other }: PodEvent): boolean {
  const changed = { ...other, isTerminating: false };
  return compileConstraints(pod, "DoNotSchedule").some(({ matcher }) => matcher.matches(changed));
}
