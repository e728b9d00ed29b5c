/** Changes of the cluster that can make a pod schedulable, and the rules by which a plugin knows which ones help. */

import type { DeviceClass, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

export type ClusterEvent =
  /** `node` is there, or counts again. */
  | { readonly type: "nodeAdded"; readonly node: NodeInfo }
  | { readonly type: "nodeRemoved"; readonly name: string }
  | { readonly type: "nodeAllocatable"; readonly node: NodeInfo }
  | { readonly type: "nodeLabels"; readonly node: NodeInfo }
  /** Taints, or whether it takes pods at all. */
  | { readonly type: "nodeTaints"; readonly node: NodeInfo }
  | { readonly type: "nodeFeatures"; readonly node: NodeInfo }
  /** A pod came to a node, or its labels changed there. */
  | { readonly type: "podPlaced"; readonly pod: PodInfo }
  /** A pod left its node, or takes less of it. The node is undefined when that is gone as well. */
  | { readonly type: "podFreed"; readonly pod: PodInfo; readonly node: NodeInfo | undefined }
  /** A pod was not bound after all: what plugins kept for it is free. */
  | { readonly type: "podUnreserved"; readonly pod: PodInfo }
  | { readonly type: "namespaceLabels" }
  | { readonly type: "claim"; readonly key: string }
  | { readonly type: "volume" }
  /** A class, who makes volumes of it, or how much room there is for them. */
  | { readonly type: "storageClass" }
  | { readonly type: "csiNode" }
  | {
      readonly type: "resourceClaim";
      readonly before: ResourceClaim | undefined;
      readonly after: ResourceClaim | undefined;
    }
  /** Devices came, or changed. */
  | { readonly type: "resourceSlice" }
  | {
      readonly type: "deviceClass";
      readonly before: DeviceClass | undefined;
      readonly after: DeviceClass | undefined;
    };

export type ClusterEventType = ClusterEvent["type"];

type EventOf<T extends ClusterEventType> = Extract<ClusterEvent, { readonly type: T }>;

/** For each kind of event that can help at all: whether this one helps this pod. */
export type Reactivations = {
  readonly [T in ClusterEventType]?: (pod: PodInfo, event: EventOf<T>) => boolean;
};

export function helps(reactivations: Reactivations, pod: PodInfo, event: ClusterEvent): boolean {
  const rule = reactivations[event.type] as ((pod: PodInfo, event: ClusterEvent) => boolean) | undefined;
  return rule?.(pod, event) ?? false;
}

export const ALWAYS = (): boolean => true;
