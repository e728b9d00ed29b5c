/** Measures the pods of a node, for the pages that show resource usage. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { ContainerUsage } from "../runtime-handler.ts";
import type { ServedNode } from "./served-node.ts";

/** Pods that are measured at once. */
const WIDTH = 16;

export interface PodReading {
  readonly pod: Pod;
  readonly at: number;
  readonly containers: readonly ContainerUsage[];
}

export interface NodeReading {
  readonly node: string;
  readonly at: number;
  readonly pods: readonly PodReading[];
  readonly cpuMillis: number;
  /** CPU time of all containers that were ever read, in seconds. Never decreases. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Takes the readings of one node. Remembers the CPU time of containers that ended. */
export class UsageReader {
  readonly #node: ServedNode;
  /** CPU seconds of the containers in the last reading. */
  #running: ReadonlyMap<string, number> = new Map();
  #endedSeconds = 0;

  constructor(node: ServedNode) {
    this.#node = node;
  }

  async read(now: number): Promise<NodeReading> {
    const pods: PodReading[] = [];
    await inParallel(this.#node.pods(), WIDTH, async (pod) => {
      const usage = await this.#node.findRuntime(pod)?.usage(pod.metadata.uid);
      if (usage !== undefined && usage.containers.length > 0) pods.push({ pod, ...usage });
    });
    const containers = pods.flatMap((each) => each.containers);
    const sum = (part: (container: ContainerUsage) => number): number => {
      let total = 0;
      for (const container of containers) total += part(container);
      return total;
    };
    return {
      ...{ node: this.#node.name, at: now, pods },
      cpuMillis: sum(({ cpuMillis }) => cpuMillis),
      cpuSeconds: this.#cpuSeconds(pods),
      memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    };
  }

  #cpuSeconds(pods: readonly PodReading[]): number {
    const running = new Map<string, number>();
    for (const { pod, containers } of pods) {
      for (const { name, startedAt, cpuSeconds } of containers)
        running.set(`${pod.metadata.uid}/${name}/${String(startedAt)}`, cpuSeconds);
    }
    for (const [run, seconds] of this.#running) if (!running.has(run)) this.#endedSeconds += seconds;
    this.#running = running;
    let total = this.#endedSeconds;
    for (const seconds of running.values()) total += seconds;
    return total;
  }
}
