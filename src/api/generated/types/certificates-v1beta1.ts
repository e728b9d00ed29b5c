// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, ListMeta, StoredMeta } from "./meta-v1.ts";

export type ClusterTrustBundle = {
  readonly apiVersion: "certificates.k8s.io/v1beta1";
  readonly kind: "ClusterTrustBundle";
  readonly metadata: StoredMeta;
  readonly spec: ClusterTrustBundleSpec;
};
export const ClusterTrustBundle: ResourceType<ClusterTrustBundle> = {
  apiVersion: "certificates.k8s.io/v1beta1",
  kind: "ClusterTrustBundle",
  plural: "clustertrustbundles",
  namespaced: false,
};

export type ClusterTrustBundleList = {
  readonly apiVersion: "certificates.k8s.io/v1beta1";
  readonly items: readonly ClusterTrustBundle[];
  readonly kind: "ClusterTrustBundleList";
  readonly metadata: ListMeta;
};

export type ClusterTrustBundleSpec = {
  readonly signerName?: string;
  readonly trustBundle: string;
};

export type PodCertificateRequest = {
  readonly apiVersion: "certificates.k8s.io/v1beta1";
  readonly kind: "PodCertificateRequest";
  readonly metadata: StoredMeta;
  readonly spec: PodCertificateRequestSpec;
  readonly status: PodCertificateRequestStatus;
};
export const PodCertificateRequest: ResourceType<PodCertificateRequest> = {
  apiVersion: "certificates.k8s.io/v1beta1",
  kind: "PodCertificateRequest",
  plural: "podcertificaterequests",
  namespaced: true,
};

export type PodCertificateRequestList = {
  readonly apiVersion: "certificates.k8s.io/v1beta1";
  readonly items: readonly PodCertificateRequest[];
  readonly kind: "PodCertificateRequestList";
  readonly metadata: ListMeta;
};

export type PodCertificateRequestSpec = {
  readonly maxExpirationSeconds?: number;
  readonly nodeName: string;
  readonly nodeUID: string;
  readonly pkixPublicKey: string;
  readonly podName: string;
  readonly podUID: string;
  readonly proofOfPossession: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUID: string;
  readonly signerName: string;
  readonly stubPKCS10Request: string;
  readonly unverifiedUserAnnotations?: Readonly<Record<string, string>>;
};

export type PodCertificateRequestStatus = {
  readonly beginRefreshAt?: string;
  readonly certificateChain?: string;
  readonly conditions?: readonly Condition[];
  readonly notAfter?: string;
  readonly notBefore?: string;
};
