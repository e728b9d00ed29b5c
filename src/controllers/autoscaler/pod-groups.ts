/** Sorts the pods of an autoscaler's target by whether their metrics count, and sums up their requests. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { parseQuantity, quantityMilliValue } from "../../api/values/quantity.ts";
import { findCondition } from "../../resources/pod/pod-state.ts";
import { MetricError } from "./pod-metric.ts";
import type { PodMetric, PodMetrics } from "./pod-metric.ts";

/** Period after a pod's start in which its CPU usage may be startup work (upstream's cpu-initialization-period). */
const CPU_INITIALIZATION_MS = 300_000;
/** A pod that became unready within this delay after its start, and still is, was never ready (upstream's initial-readiness-delay). */
const INITIAL_READINESS_MS = 30_000;

export interface PodGroups {
  readonly readyCount: number;
  /** Pods that are pending or starting: their metrics, if any, do not show their load yet. */
  readonly unready: readonly string[];
  /** Running pods without metrics. */
  readonly missing: readonly string[];
  /** Metrics of the pods that count. */
  readonly measured: PodMetrics;
}

/** `resource` is empty for metrics other than resource metrics. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  { resource, now }: { readonly resource: string; readonly now: number },
): PodGroups {
  const measured = new Map(metrics);
  const unready: string[] = [];
  const missing: string[] = [];
  let readyCount = 0;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const metric = metrics.get(name);
    const group = groupOf(pod, metric, { resource, now });
    if (group === "ignored" || group === "unready") measured.delete(name);
    if (group === "unready") unready.push(name);
    else if (group === "missing") missing.push(name);
    else if (group === "ready") readyCount++;
  }
  return { readyCount, unready, missing, measured };
}

type Group = "ignored" | "unready" | "missing" | "ready";

function groupOf(
  pod: Pod,
  metric: PodMetric | undefined,
  { resource, now }: { readonly resource: string; readonly now: number },
): Group {
  const { phase } = pod.status;
  if (pod.metadata.deletionTimestamp !== undefined || phase === "Failed") return "ignored";
  if (phase === "Pending") return "unready";
  if (metric === undefined) return "missing";
  return resource === "cpu" && isStarting(pod, metric, now) ? "unready" : "ready";
}

function isStarting(pod: Pod, metric: PodMetric, now: number): boolean {
  const condition = findCondition(pod, "Ready");
  if (condition === undefined || pod.status.startTime === undefined) return true;
  const startedAt = Date.parse(pod.status.startTime);
  const changedAt = Date.parse(condition.lastTransitionTime ?? pod.status.startTime);
  const isUnready = condition.status === "False";
  if (startedAt + CPU_INITIALIZATION_MS > now) return isUnready || metric.at < changedAt + metric.windowMs;
  return isUnready && startedAt + INITIAL_READINESS_MS > changedAt;
}

/**
 * Requests by pod name, in thousandths; summed over all containers if `container` is empty. Throws a MetricError if a counted container has
 * no request.
 */
export function podRequests(
  pods: readonly Pod[],
  { resource, container }: { readonly resource: string; readonly container: string },
): ReadonlyMap<string, number> {
  const ofPod = (pod: Pod): number => {
    const whole = container === "" ? pod.spec.resources?.requests?.[resource] : undefined;
    if (whole !== undefined) return milliOf(whole);
    let sum = 0;
    for (const { name, resources } of lastingContainers(pod)) {
      if (container !== "" && container !== name) continue;
      const request = resources?.requests?.[resource];
      if (request === undefined)
        throw new MetricError(
          `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`,
        );
      sum += milliOf(request);
    }
    return sum;
  };
  return new Map(pods.map((pod) => [pod.metadata.name, ofPod(pod)]));
}

/** Containers and sidecars: they run as long as the pod does. */
function lastingContainers({ spec }: Pod): readonly Container[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars];
}

export function milliOf(text: string): number {
  return Number(quantityMilliValue(parseQuantity(text)));
}
