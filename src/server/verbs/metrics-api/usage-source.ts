/** What pods and nodes use, as whoever runs them reports it. The server asks at each request and keeps nothing of it. */
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";

export interface Usage {
  /** Thousandths of cores. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface ContainerUsage extends Usage {
  readonly name: string;
}

export interface UsageSource {
  /** Over how long usage is measured: each figure is the average of this time before the request. */
  readonly windowMs: number;
  /** Of the containers that run; undefined while nothing is known of the pod. */
  findPod(pod: Pod): readonly ContainerUsage[] | undefined;
  /** `pods` are those that are on the node. Undefined while nothing is known of the node. */
  findNode(node: Node, pods: readonly Pod[]): Usage | undefined;
}
