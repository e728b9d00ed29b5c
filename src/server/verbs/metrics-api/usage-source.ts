/** Interface to the component that runs pods and measures their usage. The server asks at each request and caches nothing. */
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";

export interface Usage {
  /** Thousandths of a core. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface ContainerUsage extends Usage {
  readonly name: string;
}

export interface UsageSource {
  /** Length of the measurement. Each figure is the average over this time before the request. */
  readonly windowMs: number;
  /** Usage of the running containers. Undefined while there is no measurement of the pod. */
  findPod(pod: Pod): readonly ContainerUsage[] | undefined;
  /** `pods` are the pods on the node. Undefined while there is no measurement of the node. */
  findNode(node: Node, pods: readonly Pod[]): Usage | undefined;
}
