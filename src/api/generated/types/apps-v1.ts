// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { PersistentVolumeClaim, PodTemplateSpec } from "./core-v1.ts";
import type { LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type ControllerRevision = {
  readonly apiVersion: "apps/v1";
  readonly data?: unknown;
  readonly kind: "ControllerRevision";
  readonly metadata: StoredMeta;
  readonly revision: number;
};
export const ControllerRevision: ResourceType<ControllerRevision> = {
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  namespaced: true,
};

export type ControllerRevisionList = {
  readonly apiVersion: "apps/v1";
  readonly items: readonly ControllerRevision[];
  readonly kind: "ControllerRevisionList";
  readonly metadata: ListMeta;
};

export type DaemonSet = {
  readonly apiVersion: "apps/v1";
  readonly kind: "DaemonSet";
  readonly metadata: StoredMeta;
  readonly spec: DaemonSetSpec;
  readonly status: DaemonSetStatus;
};
export const DaemonSet: ResourceType<DaemonSet> = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
};

export type DaemonSetCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type DaemonSetList = {
  readonly apiVersion: "apps/v1";
  readonly items: readonly DaemonSet[];
  readonly kind: "DaemonSetList";
  readonly metadata: ListMeta;
};

export type DaemonSetSpec = {
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy: DaemonSetUpdateStrategy;
};

export type DaemonSetStatus = {
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberAvailable?: number;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberUnavailable?: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
};

export type DaemonSetUpdateStrategy = {
  readonly rollingUpdate?: RollingUpdateDaemonSet;
  readonly type?: "OnDelete" | "RollingUpdate";
};

export type Deployment = {
  readonly apiVersion: "apps/v1";
  readonly kind: "Deployment";
  readonly metadata: StoredMeta;
  readonly spec: DeploymentSpec;
  readonly status: DeploymentStatus;
};
export const Deployment: ResourceType<Deployment> = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};

export type DeploymentCondition = {
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type DeploymentList = {
  readonly apiVersion: "apps/v1";
  readonly items: readonly Deployment[];
  readonly kind: "DeploymentList";
  readonly metadata: ListMeta;
};

export type DeploymentSpec = {
  readonly minReadySeconds?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly strategy: DeploymentStrategy;
  readonly template: PodTemplateSpec;
};

export type DeploymentStatus = {
  readonly availableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas?: number;
  readonly terminatingReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly updatedReplicas?: number;
};

export type DeploymentStrategy = {
  readonly rollingUpdate?: RollingUpdateDeployment;
  readonly type?: "Recreate" | "RollingUpdate";
};

export type ReplicaSet = {
  readonly apiVersion: "apps/v1";
  readonly kind: "ReplicaSet";
  readonly metadata: StoredMeta;
  readonly spec: ReplicaSetSpec;
  readonly status: ReplicaSetStatus;
};
export const ReplicaSet: ResourceType<ReplicaSet> = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};

export type ReplicaSetCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type ReplicaSetList = {
  readonly apiVersion: "apps/v1";
  readonly items: readonly ReplicaSet[];
  readonly kind: "ReplicaSetList";
  readonly metadata: ListMeta;
};

export type ReplicaSetSpec = {
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
};

export type ReplicaSetStatus = {
  readonly availableReplicas?: number;
  readonly conditions?: readonly ReplicaSetCondition[];
  readonly fullyLabeledReplicas?: number;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly terminatingReplicas?: number;
};

export type RollingUpdateDaemonSet = {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
};

export type RollingUpdateDeployment = {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
};

export type RollingUpdateStatefulSetStrategy = {
  readonly maxUnavailable?: number | string;
  readonly partition?: number;
};

export type StatefulSet = {
  readonly apiVersion: "apps/v1";
  readonly kind: "StatefulSet";
  readonly metadata: StoredMeta;
  readonly spec: StatefulSetSpec;
  readonly status: StatefulSetStatus;
};
export const StatefulSet: ResourceType<StatefulSet> = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
};

export type StatefulSetCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type StatefulSetList = {
  readonly apiVersion: "apps/v1";
  readonly items: readonly StatefulSet[];
  readonly kind: "StatefulSetList";
  readonly metadata: ListMeta;
};

export type StatefulSetOrdinals = {
  readonly start: number;
};

export type StatefulSetPersistentVolumeClaimRetentionPolicy = {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
};

export type StatefulSetSpec = {
  readonly minReadySeconds?: number;
  readonly ordinals?: StatefulSetOrdinals;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly serviceName: string;
  readonly template: PodTemplateSpec;
  readonly updateStrategy: StatefulSetUpdateStrategy;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
};

export type StatefulSetStatus = {
  readonly availableReplicas: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly currentReplicas?: number;
  readonly currentRevision?: string;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly updateRevision?: string;
  readonly updatedReplicas?: number;
};

export type StatefulSetUpdateStrategy = {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
  readonly type?: "OnDelete" | "RollingUpdate";
};
