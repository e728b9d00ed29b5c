/** Turns a recommended size into the size of the target: applies stabilization windows, bounds and rate limits. All functions are pure. */
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from "../../api/generated/types/autoscaling-v2.ts";
import type { NewCondition } from "../../runtime/controller/conditions.ts";
import { highest, lowest } from "./scale-history.ts";
import type { ScaleHistory, SizeChange, Windows } from "./scale-history.ts";

/** Default stabilization window of a scale-down. */
const DOWN_WINDOW_SECONDS = 300;
/** Smallest limit of a scale-up without a behavior; otherwise the limit is twice the size. */
const GROWTH_MIN = 4;
const GROWTH_FACTOR = 2;

export interface ScaleBounds extends Pick<HorizontalPodAutoscalerSpec, "maxReplicas" | "behavior"> {
  readonly minReplicas: number;
}

export interface ScaleStep {
  readonly currentReplicas: number;
  /** Its last recommendation is the size to limit. */
  readonly history: ScaleHistory;
  readonly now: number;
}

export interface LimitedSize {
  readonly replicas: number;
  readonly conditions: readonly NewCondition[];
}

export function limitSize(bounds: ScaleBounds, step: ScaleStep): LimitedSize {
  const steadied = steady(bounds, step);
  const allowed = allow(bounds, steadied.replicas, step);
  const isLimited = allowed.replicas !== steadied.replicas;
  const { reason, message } = allowed;
  return {
    replicas: allowed.replicas,
    conditions: [
      { type: "AbleToScale", status: "True", reason: steadied.reason, message: steadied.message },
      { type: "ScalingLimited", status: isLimited ? "True" : "False", reason, message },
    ],
  };
}

export function windowsOf({ behavior }: Pick<ScaleBounds, "behavior">): Windows {
  const { scaleUp, scaleDown } = behavior ?? {};
  const periods = [...(scaleUp?.policies ?? []), ...(scaleDown?.policies ?? [])].map(
    ({ periodSeconds }) => periodSeconds,
  );
  return {
    upMs: (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
    downMs: (scaleDown?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS) * 1000,
    changesMs: behavior === undefined ? 0 : Math.max(0, ...periods) * 1000,
  };
}

interface Reasoned {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

const READY = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const HELD_UP = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const HELD_DOWN = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};

function steady(bounds: ScaleBounds, { currentReplicas, history, now }: ScaleStep): Reasoned {
  const { upMs, downMs } = windowsOf(bounds);
  const { recommended } = history;
  const ceiling = highest(history, now - downMs);
  const replicas =
    bounds.behavior === undefined
      ? ceiling
      : Math.min(ceiling, Math.max(currentReplicas, lowest(history, now - upMs)));
  if (replicas === recommended) return { replicas, ...READY };
  const isGrowing = bounds.behavior !== undefined && recommended >= currentReplicas;
  return { replicas, ...(isGrowing ? HELD_DOWN : HELD_UP) };
}

const IN_RANGE = {
  reason: "DesiredWithinRange",
  message: "the desired count is within the acceptable range",
};
const TOO_FEW = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const TOO_MANY = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const TOO_FAST_UP = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const TOO_FAST_DOWN = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

function allow(bounds: ScaleBounds, replicas: number, step: ScaleStep): Reasoned {
  const { behavior, minReplicas, maxReplicas } = bounds;
  const { currentReplicas } = step;
  if (behavior === undefined) {
    if (replicas < minReplicas) return { replicas: minReplicas, ...TOO_FEW };
    const limit = Math.max(GROWTH_FACTOR * currentReplicas, GROWTH_MIN);
    return atMost(replicas, { limit, maxReplicas });
  }
  if (replicas > currentReplicas) {
    const limit = Math.max(currentReplicas, growthLimit(behavior, step));
    return atMost(replicas, { limit, maxReplicas });
  }
  if (replicas === currentReplicas) return { replicas, ...IN_RANGE };
  const limit = Math.min(currentReplicas, shrinkLimit(behavior, step));
  const isRate = minReplicas < limit;
  const least = isRate ? limit : minReplicas;
  if (replicas >= least) return { replicas, ...IN_RANGE };
  return { replicas: least, ...(isRate ? TOO_FAST_DOWN : TOO_FEW) };
}

function atMost(
  replicas: number,
  { limit, maxReplicas }: { readonly limit: number; readonly maxReplicas: number },
): Reasoned {
  const most = Math.min(limit, maxReplicas);
  if (replicas <= most) return { replicas, ...IN_RANGE };
  return { replicas: most, ...(maxReplicas > limit ? TOO_FAST_UP : TOO_MANY) };
}

function growthLimit({ scaleUp = {} }: HorizontalPodAutoscalerBehavior, step: ScaleStep): number {
  // Rounded up: rounding down could leave a small target at its size for ever.
  const proposed = ({ type, value }: HPAScalingPolicy, start: number): number =>
    type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
  return selected(scaleUp, step, { proposed, widest: "greatest" });
}

function shrinkLimit({ scaleDown = {} }: HorizontalPodAutoscalerBehavior, step: ScaleStep): number {
  const proposed = ({ type, value }: HPAScalingPolicy, start: number): number =>
    type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
  return selected(scaleDown, step, { proposed, widest: "least" });
}

interface Direction {
  readonly proposed: (policy: HPAScalingPolicy, periodStart: number) => number;
  /** Extreme of the proposals that `selectPolicy: Max` selects. */
  readonly widest: "greatest" | "least";
}

function selected(
  { selectPolicy = "Max", policies = [] }: HPAScalingRules,
  { currentReplicas, history, now }: ScaleStep,
  { proposed, widest }: Direction,
): number {
  if (selectPolicy === "Disabled" || policies.length === 0) return currentReplicas;
  const proposals = policies.map((policy) => {
    const since = now - policy.periodSeconds * 1000;
    return proposed(policy, currentReplicas - changedSince(history.changes, since));
  });
  const isGreatest = (selectPolicy === "Max") === (widest === "greatest");
  return isGreatest ? Math.max(...proposals) : Math.min(...proposals);
}

function changedSince(changes: readonly SizeChange[], since: number): number {
  let sum = 0;
  for (const { at, by } of changes) if (at > since) sum += by;
  return sum;
}
