// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, ListMeta, StoredMeta } from "./meta-v1.ts";

export interface BasicSchedulingPolicy {}

export interface GangSchedulingPolicy {
  readonly minCount: number;
}

export interface PodGroup {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly kind: "PodGroup";
  readonly metadata: StoredMeta;
  readonly spec: PodGroupSpec;
  readonly status: PodGroupStatus;
}
export const PodGroup: ResourceType<PodGroup> = {
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "PodGroup",
  plural: "podgroups",
  namespaced: true,
};

export interface PodGroupList {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly items: readonly PodGroup[];
  readonly kind: "PodGroupList";
  readonly metadata: ListMeta;
}

export interface PodGroupResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodGroupResourceClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}

export interface PodGroupSchedulingConstraints {
  readonly topology?: readonly TopologyConstraint[];
}

export interface PodGroupSchedulingPolicy {
  readonly basic?: BasicSchedulingPolicy;
  readonly gang?: GangSchedulingPolicy;
}

export interface PodGroupSpec {
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly podGroupTemplateRef: PodGroupTemplateReference;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly schedulingConstraints?: PodGroupSchedulingConstraints;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
}

export interface PodGroupStatus {
  readonly conditions?: readonly Condition[];
  readonly resourceClaimStatuses?: readonly PodGroupResourceClaimStatus[];
}

export interface PodGroupTemplate {
  readonly disruptionMode?: "Pod" | "PodGroup";
  readonly name: string;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly resourceClaims?: readonly PodGroupResourceClaim[];
  readonly schedulingConstraints: PodGroupSchedulingConstraints;
  readonly schedulingPolicy: PodGroupSchedulingPolicy;
}

export interface PodGroupTemplateReference {
  readonly workload: WorkloadPodGroupTemplateReference;
}

export interface TopologyConstraint {
  readonly key: string;
}

export interface TypedLocalObjectReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface Workload {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly kind: "Workload";
  readonly metadata: StoredMeta;
  readonly spec: WorkloadSpec;
}
export const Workload: ResourceType<Workload> = {
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "Workload",
  plural: "workloads",
  namespaced: true,
};

export interface WorkloadList {
  readonly apiVersion: "scheduling.k8s.io/v1alpha2";
  readonly items: readonly Workload[];
  readonly kind: "WorkloadList";
  readonly metadata: ListMeta;
}

export interface WorkloadPodGroupTemplateReference {
  readonly podGroupTemplateName: string;
  readonly workloadName: string;
}

export interface WorkloadSpec {
  readonly controllerRef?: TypedLocalObjectReference;
  readonly podGroupTemplates: readonly PodGroupTemplate[];
}
