// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type CrossVersionObjectReference = {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
};

export type HorizontalPodAutoscaler = {
  readonly apiVersion: "autoscaling/v1";
  readonly kind: "HorizontalPodAutoscaler";
  readonly metadata: StoredMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status: HorizontalPodAutoscalerStatus;
};
export const HorizontalPodAutoscaler: ResourceType<HorizontalPodAutoscaler> = {
  apiVersion: "autoscaling/v1",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
};

export type HorizontalPodAutoscalerList = {
  readonly apiVersion: "autoscaling/v1";
  readonly items: readonly HorizontalPodAutoscaler[];
  readonly kind: "HorizontalPodAutoscalerList";
  readonly metadata: ListMeta;
};

export type HorizontalPodAutoscalerSpec = {
  readonly maxReplicas: number;
  readonly minReplicas?: number;
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly targetCPUUtilizationPercentage?: number;
};

export type HorizontalPodAutoscalerStatus = {
  readonly currentCPUUtilizationPercentage?: number;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly observedGeneration?: number;
};

export type Scale = {
  readonly apiVersion: "autoscaling/v1";
  readonly kind: "Scale";
  readonly metadata: StoredMeta;
  readonly spec: ScaleSpec;
  readonly status: ScaleStatus;
};

export type ScaleSpec = {
  readonly replicas?: number;
};

export type ScaleStatus = {
  readonly replicas: number;
  readonly selector?: string;
};
