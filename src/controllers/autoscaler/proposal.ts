/** Computes the size that one metric proposes, or the reason why it proposes none. */
import type {
  ContainerResourceMetricSource,
  ExternalMetricSource,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ObjectMetricSource,
  PodsMetricSource,
} from "../../api/generated/types/autoscaling-v2.ts";
import { formatQuantity } from "../../api/values/quantity.ts";
import { milliOf } from "./pod-groups.ts";
import { MetricError } from "./pod-metric.ts";
import type { MetricReading } from "./pod-metric.ts";
import { countForAverage, countForShare, countForUtilization, countForValue } from "./replica-count.ts";
import type { Sizing } from "./replica-count.ts";

export interface MetricSizing extends Sizing {
  /** Replicas in the target's status; `currentReplicas` comes from its spec. */
  readonly statusReplicas: number;
}

export type Proposal =
  | {
      readonly type: "proposed";
      readonly replicas: number;
      /** Name of the metric in event messages. */
      readonly name: string;
      readonly status: MetricStatus;
    }
  | {
      readonly type: "failed";
      readonly reason: string;
      readonly message: string;
      /** The message, prefixed with the metric that failed. */
      readonly error: string;
    };

type Proposed = Omit<Extract<Proposal, { readonly type: "proposed" }>, "type">;

export function propose(metric: MetricSpec, reading: MetricReading, sizing: MetricSizing): Proposal {
  const { reason, prefix, count } = kindOf(metric);
  try {
    return { type: "proposed", ...count(reading, sizing) };
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    return { type: "failed", reason, message: error.message, error: `${prefix}: ${error.message}` };
  }
}

interface MetricKind {
  readonly reason: string;
  readonly prefix: string;
  readonly count: (reading: MetricReading, sizing: MetricSizing) => Proposed;
}

function kindOf(metric: MetricSpec): MetricKind {
  const { type, resource, containerResource, pods, object, external } = metric;
  if (type === "Resource" && resource !== undefined) {
    const source = { ...resource, container: "" };
    return {
      reason: "FailedGetResourceMetric",
      prefix: `failed to get ${resource.name} resource metric value`,
      count: (...seen) => resourceCount(source, "resource", seen),
    };
  }
  if (type === "ContainerResource" && containerResource !== undefined) {
    return {
      reason: "FailedGetContainerResourceMetric",
      prefix: `failed to get ${containerResource.name} container metric value`,
      count: (...seen) => resourceCount(containerResource, "container resource", seen),
    };
  }
  if (type === "Pods" && pods !== undefined) {
    const prefix = "failed to get pods metric value";
    return { reason: "FailedGetPodsMetric", prefix, count: (...seen) => podsCount(pods, seen) };
  }
  if (type === "Object" && object !== undefined) {
    const prefix = "failed to get object metric value";
    return { reason: "FailedGetObjectMetric", prefix, count: (...seen) => objectCount(object, seen) };
  }
  if (type === "External" && external !== undefined) {
    const prefix = "failed to get external metric value";
    return { reason: "FailedGetExternalMetric", prefix, count: (...seen) => externalCount(external, seen) };
  }
  const problem = `unknown metric source type "${type}"`;
  return { reason: "InvalidMetricSourceType", prefix: problem, count: () => refuse(problem) };
}

type Seen = readonly [reading: MetricReading, sizing: MetricSizing];

function resourceCount(
  { name: resource, container, target }: ContainerResourceMetricSource,
  word: "resource" | "container resource",
  [reading, sizing]: Seen,
): Proposed {
  const statusOf = (current: MetricValueStatus): MetricStatus =>
    word === "resource"
      ? { type: "Resource", resource: { name: resource, current } }
      : { type: "ContainerResource", containerResource: { name: resource, container, current } };
  const { averageValue, averageUtilization } = target;
  if (averageValue !== undefined) {
    return within(`failed to get ${resource} usage`, () => {
      const goal = { resource, averageMilli: milliOf(averageValue) };
      const { replicas, averageMilli } = countForAverage(podsOf(reading, resource), goal, sizing);
      const status = statusOf({ averageValue: milliText(averageMilli) });
      return { replicas, name: `${resource} ${word}`, status };
    });
  }
  if (averageUtilization === undefined)
    return refuse(
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    );
  return within(`failed to get ${resource} utilization`, () => {
    const goal = { resource, container, utilization: averageUtilization };
    const found = countForUtilization(podsOf(reading, resource), goal, sizing);
    const status = statusOf({
      averageUtilization: found.utilization,
      averageValue: milliText(found.averageMilli),
    });
    return {
      replicas: found.replicas,
      name: `${resource} ${word} utilization (percentage of request)`,
      status,
    };
  });
}

function podsOf(
  reading: MetricReading,
  resource: string,
): Extract<MetricReading, { type: "pods" }>["metrics"] {
  if (reading.type === "pods") return reading.metrics;
  const why = reading.type === "failed" ? reading.message : "expected metrics of pods";
  return refuse(`unable to get metrics for resource ${resource}: ${why}`);
}

function podsCount({ metric, target }: PodsMetricSource, [reading, sizing]: Seen): Proposed {
  if (reading.type !== "pods") return refuse(`unable to get metric ${metric.name}: ${whyOf(reading)}`);
  const goal = { resource: "", averageMilli: targetMilli(target, "averageValue") };
  const { replicas, averageMilli } = countForAverage(reading.metrics, goal, sizing);
  const current = { averageValue: milliText(averageMilli) };
  return {
    replicas,
    name: `pods metric ${metric.name}`,
    status: { type: "Pods", pods: { metric, current } },
  };
}

function objectCount(
  { metric, target, describedObject }: ObjectMetricSource,
  [reading, sizing]: Seen,
): Proposed {
  const { kind } = describedObject;
  if (reading.type !== "value") {
    return refuse(`unable to get metric ${metric.name}: ${kind} on ${whyOf(reading)}`);
  }
  const found = valueCount(target, reading.milli, sizing);
  const status = { type: "Object", object: { metric, describedObject, current: found.current } };
  return { replicas: found.replicas, name: `${kind} metric ${metric.name}`, status };
}

function externalCount({ metric, target }: ExternalMetricSource, [reading, sizing]: Seen): Proposed {
  const before =
    target.averageValue === undefined
      ? `failed to get external metric ${metric.name}`
      : `failed to get ${metric.name} external metric`;
  return within(before, () => {
    if (reading.type !== "value") {
      return refuse(`unable to get external metric ${metric.name}: ${whyOf(reading)}`);
    }
    const found = valueCount(target, reading.milli, sizing);
    const status = { type: "External", external: { metric, current: found.current } };
    return { replicas: found.replicas, name: `external metric ${metric.name}`, status };
  });
}

function valueCount(
  target: MetricTarget,
  milli: number,
  sizing: MetricSizing,
): { readonly replicas: number; readonly current: MetricValueStatus } {
  if (target.averageValue !== undefined) {
    const shared = { currentReplicas: sizing.statusReplicas, tolerances: sizing.tolerances };
    const { replicas, averageMilli } = countForShare(milli, targetMilli(target, "averageValue"), shared);
    return { replicas, current: { averageValue: milliText(averageMilli) } };
  }
  const replicas = countForValue(milli, targetMilli(target, "value"), sizing);
  return { replicas, current: { value: milliText(milli) } };
}

function targetMilli(target: MetricTarget, member: "value" | "averageValue"): number {
  const text = target[member];
  const milli = text === undefined ? 0 : milliOf(text);
  return milli > 0
    ? milli
    : refuse("invalid metric source: neither a value target nor an average value target was set");
}

function whyOf(reading: MetricReading): string {
  return reading.type === "failed" ? reading.message : "it is measured in another way";
}

function refuse(message: string): never {
  throw new MetricError(message);
}

function within<T>(before: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof MetricError) throw new MetricError(`${before}: ${error.message}`);
    throw error;
  }
}

function milliText(milli: number): string {
  return formatQuantity({ nano: BigInt(Math.round(milli)) * 1_000_000n, format: "DecimalSI" });
}
