// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type Lease = {
  readonly apiVersion: "coordination.k8s.io/v1";
  readonly kind: "Lease";
  readonly metadata: StoredMeta;
  readonly spec: LeaseSpec;
};
export const Lease: ResourceType<Lease> = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export type LeaseList = {
  readonly apiVersion: "coordination.k8s.io/v1";
  readonly items: readonly Lease[];
  readonly kind: "LeaseList";
  readonly metadata: ListMeta;
};

export type LeaseSpec = {
  readonly acquireTime?: string;
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly renewTime?: string;
  readonly strategy?: string;
};
