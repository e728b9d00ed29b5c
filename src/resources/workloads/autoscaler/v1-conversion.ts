/**
 * Converts autoscalers between v1 and v2. v1 only has a target for cpu utilization. Annotations keep the
 * other fields, so that a client of v1 can read and write an autoscaler without loss.
 */

import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
} from "../../../api/generated/types/autoscaling-v2.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import type { Conversion } from "../../rules/kind-rules.ts";
import { metricFromV1, metricToV1, statusFromV1, statusToV1 } from "./v1-metric.ts";

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;

/** Input is v2. */
export const autoscalerToV1: Conversion = (object) => {
  const { metadata, spec, status } = object as HorizontalPodAutoscaler;
  const { metrics = [], behavior, ...kept } = spec;
  const { currentMetrics, conditions = [], ...counts } = status;
  const target = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization;
  const current = currentMetrics.find(isCpuStatus)?.resource?.current.averageUtilization;
  const annotations = {
    ...withoutKept(metadata.annotations ?? {}),
    ...textOfList(METRICS, metrics.filter((metric) => !isCpuUtilization(metric)).map(metricToV1)),
    // Includes cpu: v1 has no field for its value, only for its utilization.
    ...textOfList(CURRENT_METRICS, currentMetrics.map(statusToV1)),
    ...textOfList(CONDITIONS, conditions),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: JSON.stringify(withGoNames(behavior)) }),
  };
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(metadata, annotations),
    spec: { ...kept, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...counts,
      currentReplicas: status.currentReplicas ?? 0,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  };
};

/** Input is v1. Ignores annotations that do not parse. */
export const autoscalerFromV1: Conversion = (object) => {
  const metadata = objectOf(object["metadata"]);
  const annotations = objectOf(metadata["annotations"]);
  const { targetCPUUtilizationPercentage: target, ...spec } = objectOf(object["spec"]);
  const { currentCPUUtilizationPercentage: current, ...status } = objectOf(object["status"]);
  const metrics = [...cpuMetric(target), ...listIn(annotations, METRICS).map(metricFromV1)];
  const detailed = listIn(annotations, CURRENT_METRICS).map(statusFromV1);
  const currentMetrics = detailed.length === 0 ? cpuStatus(current) : detailed;
  const conditions = listIn(annotations, CONDITIONS);
  const behavior = findParsed(annotations, BEHAVIOR);
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(metadata, withoutKept(annotations)),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(isJsonObject(behavior) ? { behavior: withApiNames(behavior) } : {}),
    },
    status: { ...status, currentMetrics, ...(conditions.length === 0 ? {} : { conditions }) },
  };
};

const KEPT: ReadonlySet<string> = new Set([METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR]);

/** Removes annotations that hold fields: they have no meaning in v2. */
export function withoutKept<T>(annotations: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !KEPT.has(key)));
}

function isCpuUtilization({ type, resource }: MetricSpec): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;
}

function isCpuStatus({ type, resource }: MetricStatus): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.current.averageUtilization !== undefined;
}

function cpuMetric(averageUtilization: unknown): readonly JsonObject[] {
  if (averageUtilization === undefined) return [];
  const target = { type: "Utilization", averageUtilization };
  return [{ type: "Resource", resource: { name: "cpu", target } }];
}

function cpuStatus(averageUtilization: unknown): readonly JsonObject[] {
  if (averageUtilization === undefined) return [];
  return [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization } } }];
}

function textOfList(key: string, list: readonly unknown[]): Readonly<Record<string, string>> {
  return list.length === 0 ? {} : { [key]: JSON.stringify(list) };
}

function withAnnotations(metadata: object, annotations: Readonly<Record<string, unknown>>): JsonObject {
  const others = Object.entries(metadata).filter(([key]) => key !== "annotations");
  const isEmpty = Object.keys(annotations).length === 0;
  return { ...Object.fromEntries(others), ...(isEmpty ? {} : { annotations }) };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listIn(annotations: JsonObject, key: string): readonly JsonObject[] {
  const parsed = findParsed(annotations, key);
  return Array.isArray(parsed) ? parsed.filter(isJsonObject) : [];
}

function findParsed(annotations: JsonObject, key: string): unknown {
  const text = annotations[key];
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Upstream writes this annotation with Go's field names: `ScaleUp`, `PeriodSeconds`. */
function withGoNames(value: unknown): unknown {
  return renamed(value, (name) => name.charAt(0).toUpperCase() + name.slice(1));
}

function withApiNames(value: unknown): unknown {
  return renamed(value, (name) => name.charAt(0).toLowerCase() + name.slice(1));
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (!isJsonObject(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(parts.map(([name, part]) => [rename(name), renamed(part, rename)]));
}
