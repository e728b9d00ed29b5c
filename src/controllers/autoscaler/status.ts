/** How an autoscaler says how it is. */
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerStatus,
} from "../../api/generated/types/autoscaling-v2.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { formatTime } from "../../api/values/time.ts";
import { withCondition } from "../../runtime/controller/conditions.ts";
import type { NewCondition } from "../../runtime/controller/conditions.ts";
import type { ScalePlan } from "./plan-scale.ts";

export interface Seen {
  /** Undefined when the target was not found. */
  readonly currentReplicas?: number;
  /** In the order in which they came to hold; of one type, the last counts. */
  readonly conditions: readonly NewCondition[];
  readonly now: number;
}

/** Without a plan only the conditions change; without a decision, or when the target refused it, the wanted size stays. */
export function statusOf(
  { status }: HorizontalPodAutoscaler,
  plan: ScalePlan | undefined,
  { currentReplicas, conditions, now }: Seen,
): HorizontalPodAutoscalerStatus {
  const known = status.conditions as readonly Condition[] | undefined;
  const base = { ...status, conditions: withConditions(known, conditions, now) };
  if (plan === undefined || currentReplicas === undefined) return base;
  const { rescale, isUndecided = false, metrics } = plan;
  const measured = { ...base, currentReplicas, currentMetrics: metrics };
  if (isUndecided) return measured;
  if (rescale === undefined) return { ...measured, desiredReplicas: currentReplicas };
  const isDone = conditions.at(-1)?.reason === "SucceededRescale";
  return isDone ? { ...measured, desiredReplicas: rescale.to, lastScaleTime: timeText(now) } : measured;
}

function timeText(now: number): string {
  return formatTime(BigInt(Math.floor(now)) * 1000n);
}

/** One after the other, so that a condition that holds at the end as before has not changed. */
function withConditions(
  known: readonly Condition[] | undefined,
  conditions: readonly NewCondition[],
  now: number,
): readonly Condition[] {
  const last = new Map(conditions.map((condition) => [condition.type, condition]));
  let next = known ?? [];
  for (const condition of last.values()) next = withCondition(next, condition, { now });
  return next;
}
