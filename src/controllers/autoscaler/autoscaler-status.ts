/** Builds the status of an autoscaler. */
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerStatus,
} from "../../api/generated/types/autoscaling-v2.ts";
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { withCondition } from "../../runtime/controller/conditions.ts";
import type { NewCondition } from "../../runtime/controller/conditions.ts";
import type { ScalePlan } from "./plan-scale.ts";

export interface StatusFindings {
  /** Undefined if the target was not found. */
  readonly currentReplicas?: number;
  /** Conditions in order of occurrence; the last of a type wins. */
  readonly conditions: readonly NewCondition[];
  readonly now: number;
}

/** Only the conditions change without a plan. `desiredReplicas` stays if the plan is undecided or the rescale failed. */
export function statusOf(
  { status }: HorizontalPodAutoscaler,
  plan: ScalePlan | undefined,
  { currentReplicas, conditions, now }: StatusFindings,
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

/** Keeps the last condition of each type. A condition with an unchanged status keeps its transition time. */
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
