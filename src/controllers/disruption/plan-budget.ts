/** Computes the status of a PodDisruptionBudget. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/generated/types/policy-v1.ts";
import { isActive, isReady } from "../../resources/pod/pod-state.ts";
import { scaledValue } from "../../resources/rules/int-or-percent.ts";
import { withCondition } from "../../runtime/controller/conditions.ts";

/** Time after which a granted eviction that has not begun counts as cancelled. */
const DISRUPTION_TIMEOUT_MS = 120_000;

export interface BudgetFindings {
  /** All pods that the budget covers. */
  readonly pods: readonly Pod[];
  /** Number of pods that their controllers want; undefined if the budget does not need it. */
  readonly expected: number | undefined;
  readonly now: number;
}

export interface BudgetPlan {
  readonly status: PodDisruptionBudgetStatus;
  /** Delay until the oldest granted eviction times out. */
  readonly recheckAfterMs: number | undefined;
  /** Pods with a granted eviction that timed out while they stayed alive. */
  readonly overdue: readonly Pod[];
}

/** Only an absolute `minAvailable` needs no expected number of pods. */
export function needsExpected({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === "string";
}

export function planBudget(budget: PodDisruptionBudget, { pods, expected, now }: BudgetFindings): BudgetPlan {
  const disruptedPods = stillDisrupted(budget, pods, now);
  const expectedPods = expected ?? pods.length;
  const desiredHealthy = desiredOf(budget, expectedPods);
  const isHealthy = (pod: Pod): boolean =>
    isActive(pod) && isReady(pod) && disruptedPods[pod.metadata.name] === undefined;
  const currentHealthy = pods.filter(isHealthy).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const { generation: observedGeneration } = budget.metadata;
  const isAllowed = disruptionsAllowed > 0;
  const conditions = withCondition(
    budget.status.conditions,
    {
      type: "DisruptionAllowed",
      status: isAllowed ? "True" : "False",
      reason: isAllowed ? "SufficientPods" : "InsufficientPods",
    },
    { now, observedGeneration },
  );
  const ends = Object.values(disruptedPods).map((since) => Date.parse(since) + DISRUPTION_TIMEOUT_MS - now);
  return {
    status: {
      conditions,
      currentHealthy,
      desiredHealthy,
      disruptionsAllowed,
      expectedPods,
      ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
      ...(observedGeneration !== undefined && { observedGeneration }),
    },
    recheckAfterMs: ends.length === 0 ? undefined : Math.max(0, Math.min(...ends)),
    overdue: overduePods(budget, pods, disruptedPods),
  };
}

/** Allows no disruptions if they cannot be computed; keeps `observedGeneration`. */
export function failedStatus(
  budget: PodDisruptionBudget,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration } = budget.status;
  const condition = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message } as const;
  const conditions = withCondition(budget.status.conditions, condition, { now, observedGeneration });
  return { ...budget.status, conditions, disruptionsAllowed: 0 };
}

function desiredOf({ spec }: PodDisruptionBudget, expected: number): number {
  if (spec.maxUnavailable === undefined) return scaledValue(spec.minAvailable ?? 0, expected, "up");
  return Math.max(0, expected - scaledValue(spec.maxUnavailable, expected, "up"));
}

/** Granted evictions that have not timed out and whose pods still run. */
function stillDisrupted(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): Readonly<Record<string, string>> {
  const waiting = new Set(pods.filter(isActive).map(({ metadata }) => metadata.name));
  return Object.fromEntries(
    Object.entries(status.disruptedPods ?? {}).filter(
      ([name, since]) => waiting.has(name) && Date.parse(since) + DISRUPTION_TIMEOUT_MS > now,
    ),
  );
}

function overduePods(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  disruptedPods: Readonly<Record<string, string>>,
): readonly Pod[] {
  const wasGranted = ({ metadata: { name } }: Pod): boolean => status.disruptedPods?.[name] !== undefined;
  return pods.filter(
    (pod) => isActive(pod) && wasGranted(pod) && disruptedPods[pod.metadata.name] === undefined,
  );
}
