// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, GroupResource, ListMeta, StoredMeta } from "./meta-v1.ts";

export type StorageVersionMigration = {
  readonly apiVersion: "storagemigration.k8s.io/v1beta1";
  readonly kind: "StorageVersionMigration";
  readonly metadata: StoredMeta;
  readonly spec: StorageVersionMigrationSpec;
  readonly status: StorageVersionMigrationStatus;
};
export const StorageVersionMigration: ResourceType<StorageVersionMigration> = {
  apiVersion: "storagemigration.k8s.io/v1beta1",
  kind: "StorageVersionMigration",
  plural: "storageversionmigrations",
  namespaced: false,
};

export type StorageVersionMigrationList = {
  readonly apiVersion: "storagemigration.k8s.io/v1beta1";
  readonly items: readonly StorageVersionMigration[];
  readonly kind: "StorageVersionMigrationList";
  readonly metadata: ListMeta;
};

export type StorageVersionMigrationSpec = {
  readonly resource: GroupResource;
};

export type StorageVersionMigrationStatus = {
  readonly conditions?: readonly Condition[];
  readonly resourceVersion?: string;
};
