// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type ServerStorageVersion = {
  readonly apiServerID?: string;
  readonly decodableVersions?: readonly string[];
  readonly encodingVersion?: string;
  readonly servedVersions?: readonly string[];
};

export type StorageVersion = {
  readonly apiVersion: "internal.apiserver.k8s.io/v1alpha1";
  readonly kind: "StorageVersion";
  readonly metadata: StoredMeta;
  readonly spec: StorageVersionSpec;
  readonly status: StorageVersionStatus;
};
export const StorageVersion: ResourceType<StorageVersion> = {
  apiVersion: "internal.apiserver.k8s.io/v1alpha1",
  kind: "StorageVersion",
  plural: "storageversions",
  namespaced: false,
};

export type StorageVersionCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
};

export type StorageVersionList = {
  readonly apiVersion: "internal.apiserver.k8s.io/v1alpha1";
  readonly items: readonly StorageVersion[];
  readonly kind: "StorageVersionList";
  readonly metadata: ListMeta;
};

export type StorageVersionSpec = {};

export type StorageVersionStatus = {
  readonly commonEncodingVersion?: string;
  readonly conditions?: readonly StorageVersionCondition[];
  readonly storageVersions?: readonly ServerStorageVersion[];
};
