/** Chooses the node on which preemption does the least harm. */

import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { cachedLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

export interface Candidate {
  readonly node: NodeInfo;
  /** Most important first; at least one. */
  readonly victims: readonly PodInfo[];
  /** Number of victims whose deletion breaks a disruption budget. */
  readonly violations: number;
}

/** Added to each priority before summing, so that more victims are worse even with negative priorities. */
const PRIORITY_OFFSET = 2 ** 31;

/** Sorts after every start time. */
const NOT_STARTED = "9999";

/** Orders by priority, then longest running first. */
export function byImportance(left: PodInfo, right: PodInfo): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  const [a, b] = [startOf(left), startOf(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Each rule decides among the candidates left by the previous ones; the greatest value wins. */
const RULES: readonly ((candidate: Candidate) => number | string)[] = [
  ({ violations }) => -violations,
  ({ victims }) => -(victims[0]?.priority ?? 0),
  ({ victims }) => -sumOfPriorities(victims),
  ({ victims }) => -victims.length,
  ({ victims }) => earliestStart(victims),
];

export function leastHarmful(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const rule of RULES) {
    if (left.length < 2) break;
    left = best(left, rule);
  }
  return left[0];
}

function best(
  candidates: readonly Candidate[],
  rule: (candidate: Candidate) => number | string,
): readonly Candidate[] {
  let most: number | string | undefined;
  let found: Candidate[] = [];
  for (const candidate of candidates) {
    const value = rule(candidate);
    if (most === undefined || value > most) {
      most = value;
      found = [candidate];
    } else if (value === most) found.push(candidate);
  }
  return found;
}

function sumOfPriorities(victims: readonly PodInfo[]): number {
  let sum = 0;
  for (const { priority } of victims) sum += priority + PRIORITY_OFFSET;
  return sum;
}

/** Earliest start among the victims of the highest priority. */
function earliestStart(victims: readonly PodInfo[]): string {
  const [first] = victims;
  const starts = victims.filter(({ priority }) => priority === first?.priority).map(startOf);
  return starts.toSorted()[0] ?? NOT_STARTED;
}

function startOf({ pod }: PodInfo): string {
  return pod.status.startTime ?? NOT_STARTED;
}

export interface BudgetSplit {
  readonly violating: readonly PodInfo[];
  readonly free: readonly PodInfo[];
}

/** Splits pods by whether their deletion breaks a budget, if the pods before them are deleted too. */
export function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): BudgetSplit {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status.disruptionsAllowed]));
  const violating: PodInfo[] = [];
  const free: PodInfo[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const [budget, left] of allowed) {
      if (!isProtecting(budget, pod)) continue;
      allowed.set(budget, left - 1);
      if (left - 1 < 0) isViolating = true;
    }
    (isViolating ? violating : free).push(pod);
  }
  return { violating, free };
}

/**
 * A budget without a selector protects no pods, and no budget protects pods without labels. Pods with a granted eviction are already
 * counted.
 */
function isProtecting({ metadata, spec, status }: PodDisruptionBudget, pod: PodInfo): boolean {
  if (Object.keys(pod.labels ?? {}).length === 0) return false;
  if (metadata.namespace !== pod.namespace || spec.selector === undefined) return false;
  if (status.disruptedPods !== undefined && Object.hasOwn(status.disruptedPods, pod.name)) return false;
  const selector = cachedLabelSelector(spec.selector);
  return selector.requirements.length > 0 && labelsMatch(selector, pod.labels);
}
