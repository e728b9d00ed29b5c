/** Finds a node on which a pod fits if less important pods are deleted. Changes to the snapshot are undone before it returns. */

import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { Random } from "../../base/loop/loop.ts";
import { type Diagnosis, diagnosisText, isResolvable } from "../framework/diagnosis.ts";
import type { Nominations } from "../framework/nominations.ts";
import type { Profile } from "../framework/profile.ts";
import { type SchedulingCycle, reject, type Rejection } from "../framework/scheduler-plugin.ts";
import { DISRUPTED, PREEMPTED } from "../pod-status-patch.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { byImportance, type Candidate, leastHarmful, splitByBudgets } from "./victims.ts";

export type PreemptionPlan =
  /** Preemption is not allowed or already runs; an earlier nomination stays. */
  | { readonly type: "ineligible"; readonly message: string }
  | { readonly type: "unhelpful"; readonly message: string }
  | { readonly type: "preempt"; readonly candidate: Candidate };

export interface PreemptionScope {
  readonly profile: Profile;
  readonly snapshot: ClusterSnapshot;
  readonly nominations: Nominations;
  readonly budgets: readonly PodDisruptionBudget[];
  /** Evictions for this pod are in flight. */
  readonly isPreempting: boolean;
  /** Selects the node at which the search starts. */
  readonly random: Random;
}

const NO_VICTIMS = reject("DefaultPreemption", "No preemption victims found for incoming pod", false);
const NOT_HELPFUL = reject("DefaultPreemption", "Preemption is not helpful for scheduling", false);

/** Number of candidates to compare: a tenth of the nodes, at least this many. */
const CANDIDATES_MIN = 100;
const CANDIDATES_SHARE = 0.1;

export function planPreemption(
  cycle: SchedulingCycle,
  diagnosis: Diagnosis,
  scope: PreemptionScope,
): PreemptionPlan {
  const ineligible = findIneligibility(cycle, diagnosis, scope);
  if (ineligible !== undefined) return { type: "ineligible", message: `preemption: ${ineligible}.` };
  const { order } = scope.snapshot;
  const helpful = order.filter((node) => isResolvable(diagnosis, node));
  const enough = Math.max(CANDIDATES_MIN, Math.floor(order.length * CANDIDATES_SHARE));
  const start = helpful.length > 1 ? scope.random.below(helpful.length) : 0;
  const byNode = new Map<NodeInfo, Rejection>();
  const candidates: Candidate[] = [];
  for (let i = 0; i < helpful.length && !isEnough(candidates, enough); i++) {
    const node = helpful[(start + i) % helpful.length];
    if (node === undefined) continue;
    const answer = tryNode(cycle, node, scope);
    if ("victims" in answer) candidates.push(answer);
    else byNode.set(node, answer);
  }
  const candidate = leastHarmful(candidates);
  if (candidate !== undefined) return { type: "preempt", candidate };
  const others = helpful.length < order.length ? NOT_HELPFUL : undefined;
  const text = diagnosisText({ nodeCount: order.length, all: undefined, byNode, others });
  return { type: "unhelpful", message: `preemption: ${text}` };
}

/** Continues until one candidate breaks no budget. */
function isEnough(candidates: readonly Candidate[], enough: number): boolean {
  return candidates.length >= enough && candidates.some(({ violations }) => violations === 0);
}

function findIneligibility(
  { pod }: SchedulingCycle,
  diagnosis: Diagnosis,
  scope: PreemptionScope,
): string | undefined {
  const { nominations, snapshot, isPreempting } = scope;
  if (pod.pod.spec.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never";
  const name = nominations.nodeOf(pod.key);
  const node = name === undefined ? undefined : snapshot.find(name);
  if (node === undefined || !isResolvable(diagnosis, node)) return undefined;
  const isMakingRoom =
    isPreempting ||
    [...node.pods.values()].some((other) => other.priority < pod.priority && isPreempted(other));
  return isMakingRoom ? "not eligible due to a terminating pod on the nominated node" : undefined;
}

/** The pod is terminating because of preemption. A pod that terminates for another reason may take long and is not waited for. */
function isPreempted({ isTerminating, pod }: PodInfo): boolean {
  const target = isTerminating ? pod.status.conditions?.find(({ type }) => type === DISRUPTED) : undefined;
  return target?.status === "True" && target.reason === PREEMPTED;
}

/** Detaches all less important pods, then reattaches as many as fit: protected and important ones first. */
function tryNode(
  cycle: SchedulingCycle,
  node: NodeInfo,
  { profile, snapshot, budgets }: PreemptionScope,
): Candidate | Rejection {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < cycle.pod.priority);
  if (lower.length === 0) return NO_VICTIMS;
  for (const pod of lower) snapshot.detach(pod, node);
  const rejection = profile.checkNode(cycle, node);
  if (rejection !== undefined) {
    for (const pod of lower) snapshot.attach(pod, node);
    return rejection;
  }
  const { violating, free } = splitByBudgets(lower.toSorted(byImportance), budgets);
  const victims: PodInfo[] = [];
  const reprieve = (pod: PodInfo): boolean => {
    snapshot.attach(pod, node);
    if (profile.checkNode(cycle, node) === undefined) return true;
    snapshot.detach(pod, node);
    victims.push(pod);
    return false;
  };
  const violations = violating.filter((pod) => !reprieve(pod)).length;
  for (const pod of free) reprieve(pod);
  for (const pod of victims) snapshot.attach(pod, node);
  if (victims.length === 0) return NO_VICTIMS;
  return { node, victims: victims.toSorted(byImportance), violations };
}
