// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type LeaseCandidate = {
  readonly apiVersion: "coordination.k8s.io/v1alpha2";
  readonly kind: "LeaseCandidate";
  readonly metadata: StoredMeta;
  readonly spec: LeaseCandidateSpec;
};
export const LeaseCandidate: ResourceType<LeaseCandidate> = {
  apiVersion: "coordination.k8s.io/v1alpha2",
  kind: "LeaseCandidate",
  plural: "leasecandidates",
  namespaced: true,
};

export type LeaseCandidateList = {
  readonly apiVersion: "coordination.k8s.io/v1alpha2";
  readonly items: readonly LeaseCandidate[];
  readonly kind: "LeaseCandidateList";
  readonly metadata: ListMeta;
};

export type LeaseCandidateSpec = {
  readonly binaryVersion: string;
  readonly emulationVersion?: string;
  readonly leaseName: string;
  readonly pingTime?: string;
  readonly renewTime?: string;
  readonly strategy?: string;
};
