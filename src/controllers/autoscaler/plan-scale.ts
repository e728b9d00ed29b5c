/** Plans an autoscaler's next step from its target and its metrics. All functions are pure. */
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
} from "../../api/generated/types/autoscaling-v2.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { parseQuantity, quantityToNumber } from "../../api/values/quantity.ts";
import type { NewCondition } from "../../runtime/controller/conditions.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type { MetricReading } from "./pod-metric.ts";
import { propose } from "./proposal.ts";
import type { Proposal } from "./proposal.ts";
import type { Tolerances } from "./replica-count.ts";
import { HISTORY_ANNOTATION, readHistory, trimmed, withChange, withRecommendation } from "./scale-history.ts";
import type { ScaleHistory } from "./scale-history.ts";
import { limitSize, windowsOf } from "./scale-limits.ts";

const TOLERANCE = 0.1;
/** Upper bound of a size: the greatest int32. */
const REPLICAS_MAX = 2 ** 31 - 1;

export interface ObservedScale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly pods: readonly Pod[];
  readonly now: number;
}

export interface ScalePlan {
  /** Undefined if the target keeps its size. */
  readonly rescale?: { readonly to: number; readonly reason: string };
  readonly conditions: readonly NewCondition[];
  readonly events: readonly RecordedEvent[];
  readonly metrics: readonly MetricStatus[];
  /** True if no size could be computed; the status then keeps its desired size. */
  readonly isUndecided?: boolean;
  /** Undefined if the annotation stays unchanged. */
  readonly history?: ScaleHistory;
}

/** Undefined if the size follows from the metrics. */
export function planBySize(
  hpa: HorizontalPodAutoscaler,
  replicas: number,
  now: number,
): ScalePlan | undefined {
  const { minReplicas = 1, maxReplicas } = hpa.spec;
  if (replicas === 0 && minReplicas !== 0) {
    const message = "scaling is disabled since the replica count of the target is zero";
    return { conditions: [inactive("ScalingDisabled", message)], events: [], metrics: [] };
  }
  const to = Math.min(maxReplicas, Math.max(minReplicas, replicas));
  if (to === replicas) return undefined;
  const bound = to < replicas ? "above Spec.MaxReplicas" : "below Spec.MinReplicas";
  const history = changedHistory(hpa, { from: replicas, to }, now);
  return {
    rescale: { to, reason: `Current number of replicas ${bound}` },
    conditions: [],
    events: [],
    metrics: [],
    ...(history !== undefined && { history }),
  };
}

/** Only scaling policies read the recorded size changes. */
function changedHistory(
  { spec, metadata }: HorizontalPodAutoscaler,
  { from, to }: { readonly from: number; readonly to: number },
  now: number,
): ScaleHistory | undefined {
  if (spec.behavior === undefined) return undefined;
  const known = readHistory(metadata.annotations?.[HISTORY_ANNOTATION]);
  const base = known ?? { recommended: from, earlier: [], changes: [] };
  return trimmed(withChange(base, { at: now, by: to - from }), windowsOf(spec), now);
}

export function planByMetrics(
  hpa: HorizontalPodAutoscaler,
  readings: readonly MetricReading[],
  observed: ObservedScale,
): ScalePlan {
  const { metrics = [] } = hpa.spec;
  const proposals = proposalsOf(metrics, readings, { hpa, observed });
  const choice = chosen(proposals, observed.specReplicas);
  const statuses = proposals.map((each) => (each.type === "proposed" ? each.status : { type: "" }));
  const warnings = proposals.flatMap((each) =>
    each.type === "failed" ? [warning(each.reason, each.message)] : [],
  );
  if (choice.type === "failed") {
    const message = `the HPA was unable to compute the replica count: ${choice.message}`;
    return {
      isUndecided: true,
      metrics: statuses,
      conditions: [inactive(choice.reason, message)],
      events: [...warnings, warning("FailedComputeMetricsReplicas", failureText(proposals, choice.error))],
    };
  }
  const followed = follow(hpa, choice, observed);
  return { ...followed, metrics: statuses, events: warnings };
}

/** Plan for a target without a usable selector. */
export function undecided(reason: string, message: string, eventReason = reason): ScalePlan {
  return {
    isUndecided: true,
    metrics: [],
    conditions: [inactive(reason, message)],
    events: [warning(eventReason, message), warning("FailedComputeMetricsReplicas", message)],
  };
}

type Failed = Extract<Proposal, { readonly type: "failed" }>;
type Chosen = { readonly type: "chosen"; readonly replicas: number; readonly name: string } | Failed;

/** The greatest proposal wins. While a metric is unknown, the target does not shrink. */
function chosen(proposals: readonly Proposal[], specReplicas: number): Chosen {
  let best: Extract<Proposal, { readonly type: "proposed" }> | undefined;
  let failure: Failed | undefined;
  for (const proposal of proposals) {
    if (proposal.type === "failed") failure ??= proposal;
    else if (best === undefined || proposal.replicas > best.replicas) best = proposal;
  }
  if (best === undefined) return failure ?? NO_METRICS;
  if (failure !== undefined && best.replicas < specReplicas) return failure;
  return { type: "chosen", replicas: Math.min(best.replicas, REPLICAS_MAX), name: best.name };
}

const NO_METRICS: Failed = {
  type: "failed",
  reason: "InvalidMetricSourceType",
  message: "the HPA has no metrics",
  error: "the HPA has no metrics",
};

function failureText(proposals: readonly Proposal[], first: string): string {
  const count = proposals.filter(({ type }) => type === "failed").length;
  return `invalid metrics (${count} invalid out of ${proposals.length}), first error is: ${first}`;
}

interface Circumstances {
  readonly hpa: HorizontalPodAutoscaler;
  readonly observed: ObservedScale;
}

function proposalsOf(
  metrics: readonly MetricSpec[],
  readings: readonly MetricReading[],
  { hpa, observed }: Circumstances,
): readonly Proposal[] {
  const { specReplicas: currentReplicas, statusReplicas, pods, now } = observed;
  const sizing = { currentReplicas, statusReplicas, pods, now, tolerances: tolerancesOf(hpa) };
  return metrics.map((metric, at) => {
    const reading = readings[at] ?? { type: "failed", message: "nothing was read" };
    return propose(metric, reading, sizing);
  });
}

function tolerancesOf({ spec: { behavior } }: HorizontalPodAutoscaler): Tolerances {
  return { up: toleranceOf(behavior?.scaleUp), down: toleranceOf(behavior?.scaleDown) };
}

function toleranceOf(rules: HPAScalingRules | undefined): number {
  return rules?.tolerance === undefined ? TOLERANCE : quantityToNumber(parseQuantity(rules.tolerance));
}

function follow(
  hpa: HorizontalPodAutoscaler,
  { replicas, name }: { readonly replicas: number; readonly name: string },
  { specReplicas, now }: ObservedScale,
): Pick<ScalePlan, "rescale" | "conditions" | "history"> {
  const { minReplicas = 1, maxReplicas, behavior } = hpa.spec;
  const known = readHistory(hpa.metadata.annotations?.[HISTORY_ANNOTATION]);
  const recommended = withRecommendation(known, replicas, { currentReplicas: specReplicas, now });
  const bounds = { minReplicas, maxReplicas, ...(behavior !== undefined && { behavior }) };
  const limited = limitSize(bounds, { currentReplicas: specReplicas, history: recommended, now });
  const by = limited.replicas - specReplicas;
  const history = by === 0 || behavior === undefined ? recommended : withChange(recommended, { at: now, by });
  const reason = replicas > specReplicas ? `${name} above target` : "All metrics below target";
  const message = `the HPA was able to successfully calculate a replica count from ${name}`;
  return {
    conditions: [
      { type: "ScalingActive", status: "True", reason: "ValidMetricFound", message },
      ...limited.conditions,
    ],
    ...(by !== 0 && { rescale: { to: limited.replicas, reason } }),
    ...(history !== known && { history: trimmed(history, windowsOf(bounds), now) }),
  };
}

function inactive(reason: string, message: string): NewCondition {
  return { type: "ScalingActive", status: "False", reason, message };
}

function warning(reason: string, message: string): RecordedEvent {
  return { type: "Warning", reason, message };
}
