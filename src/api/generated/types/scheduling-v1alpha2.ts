// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, ListMeta, StoredMeta } from "./meta-v1.ts";

export type BasicSchedulingPolicy = {};

export type GangSchedulingPolicy = {
  readonly minCount: number;
};

export type PodGroup = {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly kind: "PodGroup";
  readonly metadata: StoredMeta;
  readonly spec: PodGroupSpec;
  readonly status: PodGroupStatus;
};
export const PodGroup: ResourceType<PodGroup> = {
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "PodGroup",
  plural: "podgroups",
  namespaced: true,
};

export type PodGroupList = {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly items: readonly PodGroup[];
  readonly kind: "PodGroupList";
  readonly metadata: ListMeta;
};

export type PodGroupResourceClaim = {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
};

export type PodGroupResourceClaimStatus = {
  readonly name: string;
  readonly resourceClaimName?: string;
};

export type PodGroupSchedulingConstraints = {
  readonly topology?: readonly TopologyConstraint[];
};

export type PodGroupSchedulingPolicy = {
  readonly basic?: BasicSchedulingPolicy;
  readonly gang?: GangSchedulingPolicy;
};

export type PodGroupSpec = {
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly podGroupTemplateRef: PodGroupTemplateReference;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly schedulingConstraints?: PodGroupSchedulingConstraints;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
};

export type PodGroupStatus = {
  readonly conditions?: readonly Condition[];
  readonly resourceClaimStatuses?: readonly PodGroupResourceClaimStatus[];
};

export type PodGroupTemplate = {
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly name: string;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly schedulingConstraints: PodGroupSchedulingConstraints;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
};

export type PodGroupTemplateReference = {
  readonly workload: WorkloadPodGroupTemplateReference;
};

export type TopologyConstraint = {
  readonly key: string;
};

export type TypedLocalObjectReference = {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
};

export type Workload = {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly kind: "Workload";
  readonly metadata: StoredMeta;
  readonly spec: WorkloadSpec;
};
export const Workload: ResourceType<Workload> = {
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "Workload",
  plural: "workloads",
  namespaced: true,
};

export type WorkloadList = {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly items: readonly Workload[];
  readonly kind: "WorkloadList";
  readonly metadata: ListMeta;
};

export type WorkloadPodGroupTemplateReference = {
  readonly podGroupTemplateName: string;
  readonly workloadName: string;
};

export type WorkloadSpec = {
  readonly controllerRef?: TypedLocalObjectReference;
  readonly podGroupTemplates: readonly PodGroupTemplate[];
};
