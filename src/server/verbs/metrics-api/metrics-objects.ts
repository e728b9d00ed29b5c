/** Converts usage to objects of `metrics.k8s.io`. */
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";
import { addQuantities, formatQuantity, parseQuantity } from "../../../api/values/quantity.ts";
import { formatDuration, timeText } from "../../../api/values/time.ts";
import { METRICS_VERSION } from "./metrics-facts.ts";
import type { NodeMetrics, PodMetrics, UsageList } from "./metrics-facts.ts";
import type { ContainerUsage, Usage } from "./usage-source.ts";

export interface Measurement {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly windowMs: number;
}

export function podMetrics(
  { metadata: { name, namespace, labels } }: Pod,
  containers: readonly ContainerUsage[],
  measurement: Measurement,
): PodMetrics {
  return {
    apiVersion: METRICS_VERSION,
    kind: "PodMetrics",
    metadata: metadataOf({ name, namespace, labels }, measurement),
    ...momentOf(measurement),
    containers: containers.map((usage) => ({ name: usage.name, usage: usageList(usage) })),
  };
}

export function nodeMetrics(
  { metadata: { name, labels } }: Node,
  usage: Usage,
  measurement: Measurement,
): NodeMetrics {
  return {
    apiVersion: METRICS_VERSION,
    kind: "NodeMetrics",
    metadata: metadataOf({ name, labels }, measurement),
    ...momentOf(measurement),
    usage: usageList(usage),
  };
}

export const totalUsage = {
  node: ({ usage }: NodeMetrics): UsageList => usage,
  pod: ({ containers }: PodMetrics): UsageList => ({
    cpu: sumOf(containers.map(({ usage }) => usage["cpu"] ?? "0")),
    memory: sumOf(containers.map(({ usage }) => usage["memory"] ?? "0")),
  }),
};

interface Metadata {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The creation time is the time of the request, for which the object is made. */
function metadataOf({ name, namespace, labels }: Metadata, { now }: Measurement): PodMetrics["metadata"] {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels !== undefined && { labels }),
    creationTimestamp: timeText(now),
  };
}

function momentOf({ now, windowMs }: Measurement): { readonly timestamp: string; readonly window: string } {
  return { timestamp: timeText(now), window: formatDuration(BigInt(Math.round(windowMs)) * 1_000_000n) };
}

function usageList({ cpuMillis, memoryBytes }: Usage): UsageList {
  const cpu = formatQuantity({ nano: BigInt(Math.round(cpuMillis)) * 1_000_000n, format: "DecimalSI" });
  const memory = formatQuantity({
    nano: BigInt(Math.round(memoryBytes)) * 1_000_000_000n,
    format: "BinarySI",
  });
  return { cpu, memory };
}

function sumOf(texts: readonly string[]): string {
  let sum = parseQuantity("0");
  for (const text of texts) sum = addQuantities(sum, parseQuantity(text));
  return formatQuantity(sum);
}
