/** Pages `/metrics/resource` and `/metrics/cadvisor`: the usage of a node's containers in the Prometheus text format. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { ContainerUsage } from "../runtime-handler.ts";
import { exposed, type Labels, type Sample } from "./metric-families.ts";
import type { NodeReading } from "./usage-reading.ts";

/** Names, help and labels equal the kubelet's; metrics-server reads them. */
export function resourceMetrics(reading: NodeReading): string {
  const node = (value: number): readonly Sample[] => [{ labels: {}, value, at: reading.at }];
  return exposed([
    {
      name: "container_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
      type: "counter",
      samples: containerSamples(reading, resourceLabels, ({ cpuSeconds }) => cpuSeconds),
    },
    {
      name: "container_memory_working_set_bytes",
      help: "[STABLE] Current working set of the container in bytes",
      type: "gauge",
      samples: containerSamples(reading, resourceLabels, ({ memoryBytes }) => memoryBytes),
    },
    {
      name: "container_start_time_seconds",
      help: "[STABLE] Start time of the container since unix epoch in seconds",
      type: "gauge",
      samples: startSamples(reading, resourceLabels),
    },
    {
      name: "node_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the node in core-seconds",
      type: "counter",
      samples: node(reading.cpuSeconds),
    },
    {
      name: "node_memory_working_set_bytes",
      help: "[STABLE] Current working set of the node in bytes",
      type: "gauge",
      samples: node(reading.memoryBytes),
    },
    {
      name: "pod_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
      type: "counter",
      samples: podSamples(reading, ({ cpuSeconds }) => cpuSeconds),
    },
    {
      name: "pod_memory_working_set_bytes",
      help: "[STABLE] Current working set of the pod in bytes",
      type: "gauge",
      samples: podSamples(reading, ({ memoryBytes }) => memoryBytes),
    },
    {
      name: "resource_scrape_error",
      help: "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
      type: "gauge",
      samples: [{ labels: {}, value: 0, at: undefined }],
    },
  ]);
}

/** The measured ones of cAdvisor's metrics, with its labels. */
export function cadvisorMetrics(reading: NodeReading): string {
  return exposed([
    {
      name: "container_cpu_usage_seconds_total",
      help: "Cumulative cpu time consumed in seconds.",
      type: "counter",
      samples: containerSamples(reading, cadvisorLabels, ({ cpuSeconds }) => cpuSeconds),
    },
    {
      name: "container_memory_working_set_bytes",
      help: "Current working set in bytes.",
      type: "gauge",
      samples: containerSamples(reading, cadvisorLabels, ({ memoryBytes }) => memoryBytes),
    },
    {
      name: "container_start_time_seconds",
      help: "Start time of the container since unix epoch in seconds.",
      type: "gauge",
      samples: startSamples(reading, cadvisorLabels),
    },
  ]);
}

type LabelsOf = (pod: Pod, container: string) => Labels;

function resourceLabels({ metadata: { namespace = "", name } }: Pod, container: string): Labels {
  return { container, namespace, pod: name };
}

function cadvisorLabels({ metadata, spec }: Pod, container: string): Labels {
  const { namespace = "", name, uid } = metadata;
  const image = spec.containers.find((each) => each.name === container)?.image ?? "";
  return { container, id: `/pods/${uid}/${container}`, image, name: container, namespace, pod: name };
}

function containerSamples(
  { pods }: NodeReading,
  labelsOf: LabelsOf,
  valueOf: (usage: ContainerUsage) => number,
): readonly Sample[] {
  return pods.flatMap(({ pod, at, containers }) =>
    containers.map((usage) => ({ labels: labelsOf(pod, usage.name), value: valueOf(usage), at })),
  );
}

/** A start time has no time of measurement. */
function startSamples(reading: NodeReading, labelsOf: LabelsOf): readonly Sample[] {
  const samples = containerSamples(reading, labelsOf, ({ startedAt }) => startedAt / 1000);
  return samples.map((sample) => ({ ...sample, at: undefined }));
}

function podSamples({ pods }: NodeReading, valueOf: (usage: ContainerUsage) => number): readonly Sample[] {
  return pods.map(({ pod: { metadata }, at, containers }) => {
    let value = 0;
    for (const usage of containers) value += valueOf(usage);
    return { labels: { namespace: metadata.namespace ?? "", pod: metadata.name }, value, at };
  });
}
