/** Events that can make a pod schedulable, and the plugins' rules about which ones help. */

import type { DeviceClass, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

export type ClusterEvent =
  /** A node was added. */
  | { readonly type: "nodeAdded"; readonly node: NodeInfo }
  | { readonly type: "nodeRemoved"; readonly name: string }
  | { readonly type: "nodeAllocatable"; readonly node: NodeInfo }
  | { readonly type: "nodeLabels"; readonly node: NodeInfo }
  /** Taints or `spec.unschedulable` changed. */
  | { readonly type: "nodeTaints"; readonly node: NodeInfo }
  | { readonly type: "nodeFeatures"; readonly node: NodeInfo }
  /** A pod was placed on a node, or its labels changed. */
  | { readonly type: "podPlaced"; readonly pod: PodInfo }
  /** A pod left its node or uses less of it. `node` is undefined if it was removed as well. */
  | { readonly type: "podFreed"; readonly pod: PodInfo; readonly node: NodeInfo | undefined }
  /** A pod's binding failed: the plugins' reservations are free. */
  | { readonly type: "podUnreserved"; readonly pod: PodInfo }
  | { readonly type: "namespaceLabels" }
  | { readonly type: "claim"; readonly key: string }
  | { readonly type: "volume" }
  /** A StorageClass, CSIDriver or CSIStorageCapacity changed. */
  | { readonly type: "storageClass" }
  | { readonly type: "csiNode" }
  | {
      readonly type: "resourceClaim";
      readonly before: ResourceClaim | undefined;
      readonly after: ResourceClaim | undefined;
    }
  /** Devices were added or changed. */
  | { readonly type: "resourceSlice" }
  | {
      readonly type: "deviceClass";
      readonly before: DeviceClass | undefined;
      readonly after: DeviceClass | undefined;
    };

export type ClusterEventType = ClusterEvent["type"];

type EventOf<T extends ClusterEventType> = Extract<ClusterEvent, { readonly type: T }>;

/** Rules by type of event: true if the event may help the pod. */
export type QueueingHintFunctions = {
  readonly [T in ClusterEventType]?: (pod: PodInfo, event: EventOf<T>) => boolean;
};

export function mayMakeSchedulable(
  queueingHints: QueueingHintFunctions,
  pod: PodInfo,
  event: ClusterEvent,
): boolean {
  const rule = queueingHints[event.type] as ((pod: PodInfo, event: ClusterEvent) => boolean) | undefined;
  return rule?.(pod, event) ?? false;
}

export const ALWAYS = (): boolean => true;
