/** Which pods of an autoscaler's target count, and what they asked for. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { parseQuantity, quantityMilliValue } from "../../api/values/quantity.ts";
import { findCondition } from "../../resources/pod/pod-state.ts";
import { MetricError } from "./pod-metric.ts";
import type { PodMetric, PodMetrics } from "./pod-metric.ts";

/** For so long after its start a pod may be busy with starting, and its use of the processor says nothing about its load. */
const CPU_INITIALIZATION_MS = 300_000;
/** A pod that was not ready for this long after its start has never been ready. */
const INITIAL_READINESS_MS = 30_000;

export interface PodGroups {
  readonly readyCount: number;
  /** Have metrics that say nothing yet, or none because they have not begun. */
  readonly unready: readonly string[];
  /** Run, but nobody measured them. */
  readonly missing: readonly string[];
  /** What is left to count with. */
  readonly measured: PodMetrics;
}

/** `resource` is empty for metrics that are not of a resource. */
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

/** In thousandths by pod; of all containers unless one is named. Throws when a container that counts says nothing. */
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

/** Those that run as long as the pod does. */
function lastingContainers({ spec }: Pod): readonly Container[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars];
}

export function milliOf(text: string): number {
  return Number(quantityMilliValue(parseQuantity(text)));
}
