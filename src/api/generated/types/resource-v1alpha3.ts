// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, ListMeta, StoredMeta } from "./meta-v1.ts";

export type DeviceTaint = {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
};

export type DeviceTaintRule = {
  readonly apiVersion: "resource.k8s.io/v1alpha3";
  readonly kind: "DeviceTaintRule";
  readonly metadata: StoredMeta;
  readonly spec: DeviceTaintRuleSpec;
  readonly status: DeviceTaintRuleStatus;
};
export const DeviceTaintRule: ResourceType<DeviceTaintRule> = {
  apiVersion: "resource.k8s.io/v1alpha3",
  kind: "DeviceTaintRule",
  plural: "devicetaintrules",
  namespaced: false,
};

export type DeviceTaintRuleList = {
  readonly apiVersion: "resource.k8s.io/v1alpha3";
  readonly items: readonly DeviceTaintRule[];
  readonly kind: "DeviceTaintRuleList";
  readonly metadata: ListMeta;
};

export type DeviceTaintRuleSpec = {
  readonly deviceSelector?: DeviceTaintSelector;
  readonly taint: DeviceTaint;
};

export type DeviceTaintRuleStatus = {
  readonly conditions?: readonly Condition[];
};

export type DeviceTaintSelector = {
  readonly device?: string;
  readonly driver?: string;
  readonly pool?: string;
};

export type PoolStatus = {
  readonly allocatedDevices?: number;
  readonly availableDevices?: number;
  readonly driver?: string;
  readonly generation: number;
  readonly nodeName?: string;
  readonly poolName?: string;
  readonly resourceSliceCount?: number;
  readonly totalDevices?: number;
  readonly unavailableDevices?: number;
  readonly validationError?: string;
};

export type ResourcePoolStatusRequest = {
  readonly apiVersion: "resource.k8s.io/v1alpha3";
  readonly kind: "ResourcePoolStatusRequest";
  readonly metadata: StoredMeta;
  readonly spec: ResourcePoolStatusRequestSpec;
  readonly status?: ResourcePoolStatusRequestStatus;
};
export const ResourcePoolStatusRequest: ResourceType<ResourcePoolStatusRequest> = {
  apiVersion: "resource.k8s.io/v1alpha3",
  kind: "ResourcePoolStatusRequest",
  plural: "resourcepoolstatusrequests",
  namespaced: false,
};

export type ResourcePoolStatusRequestList = {
  readonly apiVersion: "resource.k8s.io/v1alpha3";
  readonly items: readonly ResourcePoolStatusRequest[];
  readonly kind: "ResourcePoolStatusRequestList";
  readonly metadata: ListMeta;
};

export type ResourcePoolStatusRequestSpec = {
  readonly driver: string;
  readonly limit?: number;
  readonly poolName?: string;
};

export type ResourcePoolStatusRequestStatus = {
  readonly conditions?: readonly Condition[];
  readonly poolCount?: number;
  readonly pools?: readonly PoolStatus[];
};
