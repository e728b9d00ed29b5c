/** Computes the number of replicas for a measurement. All functions are pure and throw a MetricError if they cannot compute a number. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import { groupPods, podRequests } from "./pod-groups.ts";
import type { PodGroups } from "./pod-groups.ts";
import { MetricError } from "./pod-metric.ts";
import type { PodMetric, PodMetrics } from "./pod-metric.ts";

/** Greatest relative deviation from the target value that causes no scaling. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

export interface Sizing {
  readonly currentReplicas: number;
  readonly pods: readonly Pod[];
  readonly tolerances: Tolerances;
  readonly now: number;
}

export interface Utilization {
  readonly replicas: number;
  /** Usage in percent of the request. */
  readonly utilization: number;
  readonly averageMilli: number;
}

export interface UtilizationTarget {
  readonly resource: string;
  /** Empty for all containers. */
  readonly container: string;
  /** Wanted usage in percent of the request. */
  readonly utilization: number;
}

export function countForUtilization(
  metrics: PodMetrics,
  target: UtilizationTarget,
  sizing: Sizing,
): Utilization {
  const groups = measuredGroups(metrics, target.resource, sizing);
  const requests = podRequests(sizing.pods, target);
  const measure = (measured: PodMetrics): Required<Ratio> => utilizationOf(measured, requests, target);
  const { ratio, utilization, averageMilli } = measure(groups.measured);
  const full = Math.max(100, target.utilization);
  const replicas = countFor(groups, sizing, {
    ratio,
    ratioOf: (measured) => measure(measured).ratio,
    // On a scale-down, a pod without metrics is assumed to use its whole request.
    assumed: (name) => Math.trunc(((requests.get(name) ?? 0) * full) / 100),
  });
  return { replicas, utilization, averageMilli };
}

export interface PlainCount {
  readonly replicas: number;
  readonly averageMilli: number;
}

/** `resource` is empty for metrics other than resource metrics. */
export function countForAverage(
  metrics: PodMetrics,
  { resource, averageMilli: target }: { readonly resource: string; readonly averageMilli: number },
  sizing: Sizing,
): PlainCount {
  const groups = measuredGroups(metrics, resource, sizing);
  const { ratio, averageMilli } = averageOf(groups.measured, target);
  const replicas = countFor(groups, sizing, {
    ratio,
    ratioOf: (measured) => averageOf(measured, target).ratio,
    assumed: () => target,
  });
  return { replicas, averageMilli };
}

/** Replicas for a value that describes all replicas together, such as a queue length. */
export function countForValue(milli: number, targetMilli: number, sizing: Sizing): number {
  const ratio = milli / targetMilli;
  if (sizing.currentReplicas === 0) return Math.ceil(ratio);
  if (isWithin(ratio, sizing.tolerances)) return sizing.currentReplicas;
  if (sizing.pods.length === 0)
    throw new MetricError(
      "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    );
  const ready = sizing.pods.filter((pod) => pod.status.phase === "Running" && isReady(pod));
  return Math.ceil(ratio * ready.length);
}

/** Replicas for a value that the replicas share equally. */
export function countForShare(
  milli: number,
  targetMilli: number,
  { currentReplicas, tolerances }: Pick<Sizing, "currentReplicas" | "tolerances">,
): PlainCount {
  const ratio = milli / (targetMilli * currentReplicas);
  const replicas = isWithin(ratio, tolerances) ? currentReplicas : Math.ceil(milli / targetMilli);
  return { replicas, averageMilli: currentReplicas === 0 ? milli : Math.ceil(milli / currentReplicas) };
}

function measuredGroups(metrics: PodMetrics, resource: string, { pods, now }: Sizing): PodGroups {
  if (pods.length === 0)
    throw new MetricError("no pods returned by selector while calculating replica count");
  const groups = groupPods(pods, metrics, { resource, now });
  if (groups.measured.size === 0)
    throw new MetricError("did not receive metrics for targeted pods (pods might be unready)");
  return groups;
}

interface Assumptions {
  /** Measured value divided by the target value. */
  readonly ratio: number;
  readonly ratioOf: (measured: PodMetrics) => number;
  /** Usage of a pod without metrics, assumed on a scale-down. */
  readonly assumed: (pod: string) => number;
}

/**
 * Pods without metrics damp the change. They count as idle on a scale-up and as fully used on a scale-down. If that reverses the direction,
 * the size stays.
 */
function countFor(groups: PodGroups, sizing: Sizing, assumptions: Assumptions): number {
  const { currentReplicas, tolerances } = sizing;
  const { ratio, ratioOf } = assumptions;
  const filled = filledUp(groups, assumptions);
  if (filled === undefined) {
    return isWithin(ratio, tolerances) ? currentReplicas : Math.ceil(ratio * groups.readyCount);
  }
  const next = ratioOf(filled);
  const isTurned = (ratio < 1 && next > 1) || (ratio > 1 && next < 1);
  if (isTurned || isWithin(next, tolerances)) return currentReplicas;
  const replicas = Math.ceil(next * filled.size);
  // The number of counted pods can differ from the number of replicas. The size must not move against the load then.
  return next < 1 ? Math.min(replicas, currentReplicas) : Math.max(replicas, currentReplicas);
}

/** Adds assumed metrics for pods without metrics; undefined if every counted pod has some. */
function filledUp(
  { unready, missing, measured }: PodGroups,
  { ratio, assumed }: Assumptions,
): PodMetrics | undefined {
  const isGrowing = ratio > 1;
  const idle = isGrowing ? unready : [];
  if (idle.length === 0 && missing.length === 0) return undefined;
  const filled = new Map(measured);
  for (const name of ratio === 1 ? [] : missing) filled.set(name, metricOf(isGrowing ? 0 : assumed(name)));
  for (const name of idle) filled.set(name, metricOf(0));
  return filled;
}

function metricOf(milli: number): PodMetric {
  return { milli, at: 0, windowMs: 0 };
}

function isWithin(ratio: number, { down, up }: Tolerances): boolean {
  return ratio >= 1 - down && ratio <= 1 + up;
}

interface Ratio {
  readonly ratio: number;
  readonly utilization?: number;
  readonly averageMilli: number;
}

function utilizationOf(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  target: UtilizationTarget,
): Required<Ratio> {
  let used = 0;
  let requested = 0;
  let count = 0;
  for (const [name, { milli }] of metrics) {
    const request = requests.get(name);
    // The pod no longer exists.
    if (request === undefined) continue;
    used += milli;
    requested += request;
    count++;
  }
  if (requested === 0) throw new MetricError("no metrics returned matched known pods");
  const utilization = Math.trunc((used * 100) / requested);
  return {
    ratio: utilization / target.utilization,
    utilization,
    averageMilli: Math.trunc(used / count),
  };
}

function averageOf(metrics: PodMetrics, target: number): Ratio {
  let sum = 0;
  for (const { milli } of metrics.values()) sum += milli;
  const averageMilli = Math.trunc(sum / metrics.size);
  return { ratio: averageMilli / target, averageMilli };
}
