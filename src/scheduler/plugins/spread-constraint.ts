/** Compiles topology spread constraints for a pod: the pods to count and the label that separates domains. */

import type { TopologySpreadConstraint } from "../../api/generated/types/core-v1.ts";
import type { LabelRequirement } from "../../api/selectors/label-requirement.ts";
import {
  compileLabelSelector,
  labelSelector,
  labelSelectorText,
  type LabelSelector,
  labelsMatch,
} from "../../api/selectors/label-selector.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import type { PodMatcher } from "../snapshot/match-counts.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

export const HOSTNAME = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** Number of domains below which the minimum counts as 0. */
  readonly minDomains: number;
  readonly policies: Pick<TopologySpreadConstraint, "nodeAffinityPolicy" | "nodeTaintsPolicy">;
  readonly matcher: PodMatcher;
  /** The constraint's selector matches the pod itself. */
  readonly countsItself: boolean;
}

type Unsatisfiable = TopologySpreadConstraint["whenUnsatisfiable"];

export function compileConstraints(pod: PodInfo, when: Unsatisfiable): readonly SpreadConstraint[] {
  const constraints = pod.shape.spec.topologySpreadConstraints;
  if (constraints === undefined) return [];
  return constraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
    .map((it) => compile(it, pod));
}

/** Default soft constraints for pods of a workload: spread over hosts, and less strictly over zones. */
export function defaultConstraints(pod: PodInfo, selector: LabelSelector): readonly SpreadConstraint[] {
  const matcher = matcherIn(pod.namespace, selector);
  const countsItself = labelsMatch(selector, pod.labels);
  const common = { minDomains: 1, policies: {}, matcher, countsItself };
  return [
    { topologyKey: HOSTNAME, maxSkew: 3, ...common },
    { topologyKey: ZONE, maxSkew: 5, ...common },
  ];
}

function compile(constraint: TopologySpreadConstraint, pod: PodInfo): SpreadConstraint {
  const { topologyKey, maxSkew, minDomains = 1 } = constraint;
  const selector = selectorFor(constraint, pod);
  return {
    topologyKey,
    maxSkew,
    minDomains,
    policies: constraint,
    matcher: matcherIn(pod.namespace, selector),
    countsItself: selector !== undefined && labelsMatch(selector, pod.labels),
  };
}

/** Undefined selects no pod. */
function selectorFor(
  { labelSelector: selector, matchLabelKeys = [] }: TopologySpreadConstraint,
  { labels }: PodInfo,
): LabelSelector | undefined {
  if (selector === undefined) return undefined;
  const compiled = compileLabelSelector(selector);
  const added = matchLabelKeys.flatMap((key): LabelRequirement[] => {
    const value = ownValue(labels, key);
    return value === undefined ? [] : [{ key, operator: "in", values: [value] }];
  });
  return added.length === 0 ? compiled : labelSelector([...compiled.requirements, ...added]);
}

/** Terminating pods do not count: their room is free soon. An empty selector counts no pod, as upstream's. */
function matcherIn(namespace: string, selector: LabelSelector | undefined): PodMatcher {
  if (selector === undefined || selector.requirements.length === 0)
    return { text: "spread none", matches: () => false };
  return {
    text: `spread ${namespace} ${labelSelectorText(selector)}`,
    matches: (pod) => pod.namespace === namespace && !pod.isTerminating && labelsMatch(selector, pod.labels),
  };
}
