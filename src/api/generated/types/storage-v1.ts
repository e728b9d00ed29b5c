// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { PersistentVolumeSpec, TopologySelectorTerm } from "./core-v1.ts";
import type { LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type CSIDriver = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIDriver";
  readonly metadata: StoredMeta;
  readonly spec: CSIDriverSpec;
};
export const CSIDriver: ResourceType<CSIDriver> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  plural: "csidrivers",
  namespaced: false,
};

export type CSIDriverList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly CSIDriver[];
  readonly kind: "CSIDriverList";
  readonly metadata: ListMeta;
};

export type CSIDriverSpec = {
  readonly attachRequired?: boolean;
  readonly fsGroupPolicy?: string;
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
  readonly podInfoOnMount?: boolean;
  readonly preventPodSchedulingIfMissing?: boolean;
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly storageCapacity?: boolean;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly volumeLifecycleModes?: readonly string[];
};

export type CSINode = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSINode";
  readonly metadata: StoredMeta;
  readonly spec: CSINodeSpec;
};
export const CSINode: ResourceType<CSINode> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  plural: "csinodes",
  namespaced: false,
};

export type CSINodeDriver = {
  readonly allocatable?: VolumeNodeResources;
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys: readonly string[];
};

export type CSINodeList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly CSINode[];
  readonly kind: "CSINodeList";
  readonly metadata: ListMeta;
};

export type CSINodeSpec = {
  readonly drivers: readonly CSINodeDriver[];
};

export type CSIStorageCapacity = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly capacity?: string;
  readonly kind: "CSIStorageCapacity";
  readonly maximumVolumeSize?: string;
  readonly metadata: StoredMeta;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
};
export const CSIStorageCapacity: ResourceType<CSIStorageCapacity> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  namespaced: true,
};

export type CSIStorageCapacityList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly CSIStorageCapacity[];
  readonly kind: "CSIStorageCapacityList";
  readonly metadata: ListMeta;
};

export type StorageClass = {
  readonly allowVolumeExpansion?: boolean;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "StorageClass";
  readonly metadata: StoredMeta;
  readonly mountOptions?: readonly string[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly provisioner: string;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
};
export const StorageClass: ResourceType<StorageClass> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
};

export type StorageClassList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly StorageClass[];
  readonly kind: "StorageClassList";
  readonly metadata: ListMeta;
};

export type TokenRequest = {
  readonly audience: string;
  readonly expirationSeconds?: number;
};

export type VolumeAttachment = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "VolumeAttachment";
  readonly metadata: StoredMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status: VolumeAttachmentStatus;
};
export const VolumeAttachment: ResourceType<VolumeAttachment> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
};

export type VolumeAttachmentList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly VolumeAttachment[];
  readonly kind: "VolumeAttachmentList";
  readonly metadata: ListMeta;
};

export type VolumeAttachmentSource = {
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
  readonly persistentVolumeName?: string;
};

export type VolumeAttachmentSpec = {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: VolumeAttachmentSource;
};

export type VolumeAttachmentStatus = {
  readonly attachError?: VolumeError;
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly detachError?: VolumeError;
};

export type VolumeAttributesClass = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly driverName: string;
  readonly kind: "VolumeAttributesClass";
  readonly metadata: StoredMeta;
  readonly parameters?: Readonly<Record<string, string>>;
};
export const VolumeAttributesClass: ResourceType<VolumeAttributesClass> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  namespaced: false,
};

export type VolumeAttributesClassList = {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly items: readonly VolumeAttributesClass[];
  readonly kind: "VolumeAttributesClassList";
  readonly metadata: ListMeta;
};

export type VolumeError = {
  readonly errorCode?: number;
  readonly message?: string;
  readonly time?: string;
};

export type VolumeNodeResources = {
  readonly count?: number;
};
