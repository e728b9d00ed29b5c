/** The body of `/stats/summary`, in the kubelet's form (package stats/v1alpha1), with the fields that are measured. */
import { timeText } from "../../api/values/time.ts";
import type { NodeReading, PodReading } from "./usage-reading.ts";

interface Amounts {
  readonly at: number;
  readonly cpuMillis: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

export function statsSummary(reading: NodeReading): object {
  return {
    node: { nodeName: reading.node, ...statsOf(reading) },
    pods: reading.pods.map(podStats),
  };
}

function podStats({ pod, at, containers }: PodReading): object {
  const { name, namespace, uid } = pod.metadata;
  const total = { at, cpuMillis: 0, cpuSeconds: 0, memoryBytes: 0 };
  for (const { cpuMillis, cpuSeconds, memoryBytes } of containers) {
    total.cpuMillis += cpuMillis;
    total.cpuSeconds += cpuSeconds;
    total.memoryBytes += memoryBytes;
  }
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status.startTime,
    containers: containers.map((container) => ({
      name: container.name,
      startTime: timeText(container.startedAt),
      ...statsOf({ at, ...container }),
    })),
    ...statsOf(total),
  };
}

function statsOf({ at, cpuMillis, cpuSeconds, memoryBytes }: Amounts): object {
  const time = timeText(at);
  return {
    cpu: {
      time,
      usageNanoCores: Math.round(cpuMillis * 1e6),
      usageCoreNanoSeconds: Math.round(cpuSeconds * 1e9),
    },
    memory: { time, workingSetBytes: memoryBytes },
  };
}
