/** Where the metrics API gets usage from. */
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";
import type { MaybePromise } from "../../../base/loop/maybe-promise.ts";

export interface Usage {
  /** Thousandths of a core. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

export interface ContainerUsage extends Usage {
  readonly name: string;
}

export interface UsageReadings {
  /** Usage of the running containers. Undefined while there is no measurement of the pod. */
  findPod(pod: Pod): readonly ContainerUsage[] | undefined;
  /** `pods` are the pods on the node. Undefined while there is no measurement of the node. */
  findNode(node: Node, pods: readonly Pod[]): Usage | undefined;
}

/** A component in this process that knows the usage of some nodes and their pods at any time. */
export interface OwnUsage extends UsageReadings {
  covers(node: Node): boolean;
}

export interface UsageSource {
  /** Length of the measurement. Each figure is the average over this time before the request. */
  readonly windowMs: number;
  /** Readings of these nodes and their pods. A node that does not answer has none. */
  read(nodeNames: ReadonlySet<string>): MaybePromise<UsageReadings>;
}
