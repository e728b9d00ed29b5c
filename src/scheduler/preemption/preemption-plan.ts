/** Finds a node on which a pod would fit if less important ones made room. Changes nothing: what is taken away is put back. */

import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import type { Random } from "../../base/loop/loop.ts";
import { type Diagnosis, diagnosisText, isResolvable } from "../framework/diagnosis.ts";
import type { Nominations } from "../framework/nominations.ts";
import { type Cycle, reject, type Rejection } from "../framework/plugin.ts";
import type { Profile } from "../framework/profile.ts";
import { DISRUPTED, PREEMPTED } from "../pod-status.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { byImportance, type Candidate, leastHarmful, splitByBudgets } from "./victims.ts";

export type PreemptionPlan =
  /** Nobody may or need make room now; an earlier nomination stands. */
  | { readonly type: "ineligible"; readonly message: string }
  | { readonly type: "hopeless"; readonly message: string }
  | { readonly type: "preempt"; readonly candidate: Candidate };

export interface PreemptionScope {
  readonly profile: Profile;
  readonly snapshot: ClusterSnapshot;
  readonly nominations: Nominations;
  readonly budgets: readonly PodDisruptionBudget[];
  /** Whether pods are being told to go for this one at this moment. */
  readonly isPreempting: boolean;
  /** Decides where the search begins. */
  readonly random: Random;
}

const NO_VICTIMS = reject("DefaultPreemption", "No preemption victims found for incoming pod", false);
const NOT_HELPFUL = reject("DefaultPreemption", "Preemption is not helpful for scheduling", false);

/** Enough nodes to choose the least harm among: a tenth, and never fewer than this. */
const CANDIDATES_MIN = 100;
const CANDIDATES_SHARE = 0.1;

export function planPreemption(cycle: Cycle, diagnosis: Diagnosis, scope: PreemptionScope): PreemptionPlan {
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
  return { type: "hopeless", message: `preemption: ${text}` };
}

/** One that breaks no budget must be among them, if there is any. */
function isEnough(candidates: readonly Candidate[], enough: number): boolean {
  return candidates.length >= enough && candidates.some(({ violations }) => violations === 0);
}

function findIneligibility({ pod }: Cycle, diagnosis: Diagnosis, scope: PreemptionScope): string | undefined {
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

/** On its way out for the sake of another. One that ends for its own reasons may take its time, and is not waited for. */
function isPreempted({ isTerminating, pod }: PodInfo): boolean {
  const target = isTerminating ? pod.status.conditions?.find(({ type }) => type === DISRUPTED) : undefined;
  return target?.status === "True" && target.reason === PREEMPTED;
}

/** Takes all less important pods away, then gives back as many as the room allows, the most important and the protected first. */
function tryNode(
  cycle: Cycle,
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
