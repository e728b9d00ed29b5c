// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type ClusterTrustBundle = {
  readonly apiVersion: "certificates.k8s.io/v1alpha1";
  readonly kind: "ClusterTrustBundle";
  readonly metadata: StoredMeta;
  readonly spec: ClusterTrustBundleSpec;
};
export const ClusterTrustBundle: ResourceType<ClusterTrustBundle> = {
  apiVersion: "certificates.k8s.io/v1alpha1",
  kind: "ClusterTrustBundle",
  plural: "clustertrustbundles",
  namespaced: false,
};

export type ClusterTrustBundleList = {
  readonly apiVersion: "certificates.k8s.io/v1alpha1";
  readonly items: readonly ClusterTrustBundle[];
  readonly kind: "ClusterTrustBundleList";
  readonly metadata: ListMeta;
};

export type ClusterTrustBundleSpec = {
  readonly signerName?: string;
  readonly trustBundle: string;
};
