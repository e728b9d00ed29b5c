// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { NodeSelector } from "./core-v1.ts";
import type { Condition, ListMeta, ObjectMeta, StoredMeta } from "./meta-v1.ts";

export interface AllocatedDeviceStatus {
  readonly conditions: readonly Condition[];
  readonly data?: unknown;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceData;
  readonly pool: string;
  readonly shareID?: string;
}

export interface AllocationResult {
  readonly allocationTimestamp?: string;
  readonly devices: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
}

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface CapacityRequestPolicy {
  readonly default: string;
  readonly validRange?: CapacityRequestPolicyRange;
  readonly validValues?: readonly string[];
}

export interface CapacityRequestPolicyRange {
  readonly max?: string;
  readonly min?: string;
  readonly step?: string;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>;
}

export interface Counter {
  readonly value: string;
}

export interface CounterSet {
  readonly counters?: Readonly<Record<string, Counter>>;
  readonly name: string;
}

export interface Device {
  readonly allNodes?: boolean;
  readonly allowMultipleAllocations?: boolean;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly bindsToNode?: boolean;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly name: string;
  readonly nodeAllocatableResourceMappings?: Readonly<Record<string, NodeAllocatableResourceMapping>>;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly taints?: readonly DeviceTaint[];
}

export interface DeviceAllocationConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
  readonly source: "FromClaim" | "FromClass";
}

export interface DeviceAllocationResult {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResult[];
}

export interface DeviceAttribute {
  readonly bool?: boolean;
  readonly bools?: readonly boolean[];
  readonly int?: number;
  readonly ints?: readonly number[];
  readonly string?: string;
  readonly strings?: readonly string[];
  readonly version?: string;
  readonly versions?: readonly string[];
}

export interface DeviceCapacity {
  readonly requestPolicy?: CapacityRequestPolicy;
  readonly value: string;
}

export interface DeviceClaim {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests: readonly DeviceRequest[];
}

export interface DeviceClaimConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
}

export interface DeviceClass {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "DeviceClass";
  readonly metadata: StoredMeta;
  readonly spec: DeviceClassSpec;
}
export const DeviceClass: ResourceType<DeviceClass> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
};

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassList {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly DeviceClass[];
  readonly kind: "DeviceClassList";
  readonly metadata: ListMeta;
}

export interface DeviceClassSpec {
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
  readonly selectors?: readonly DeviceSelector[];
}

export interface DeviceConstraint {
  readonly distinctAttribute?: string;
  readonly matchAttribute?: string;
  readonly requests?: readonly string[];
}

export interface DeviceCounterConsumption {
  readonly counterSet: string;
  readonly counters?: Readonly<Record<string, Counter>>;
}

export interface DeviceRequest {
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
  readonly name: string;
}

export interface DeviceRequestAllocationResult {
  readonly adminAccess?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly consumedCapacity?: Readonly<Record<string, string>>;
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly request: string;
  readonly shareID?: string;
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  readonly allocationMode?: string;
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceTaint {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
}

export interface DeviceTaintRule {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "DeviceTaintRule";
  readonly metadata: StoredMeta;
  readonly spec: DeviceTaintRuleSpec;
  readonly status: DeviceTaintRuleStatus;
}
export const DeviceTaintRule: ResourceType<DeviceTaintRule> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "DeviceTaintRule",
  plural: "devicetaintrules",
  namespaced: false,
};

export interface DeviceTaintRuleList {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly DeviceTaintRule[];
  readonly kind: "DeviceTaintRuleList";
  readonly metadata: ListMeta;
}

export interface DeviceTaintRuleSpec {
  readonly deviceSelector?: DeviceTaintSelector;
  readonly taint: DeviceTaint;
}

export interface DeviceTaintRuleStatus {
  readonly conditions?: readonly Condition[];
}

export interface DeviceTaintSelector {
  readonly device?: string;
  readonly driver?: string;
  readonly pool?: string;
}

export interface DeviceToleration {
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly tolerationSeconds?: number;
  readonly value?: string;
}

export interface ExactDeviceRequest {
  readonly adminAccess?: boolean;
  readonly allocationMode?: string;
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface NetworkDeviceData {
  readonly hardwareAddress?: string;
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
}

export interface NodeAllocatableResourceMapping {
  readonly allocationMultiplier?: string;
  readonly capacityKey?: string;
}

export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  readonly parameters: unknown;
}

export interface ResourceClaim {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceClaim";
  readonly metadata: StoredMeta;
  readonly spec: ResourceClaimSpec;
  readonly status: ResourceClaimStatus;
}
export const ResourceClaim: ResourceType<ResourceClaim> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
};

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
}

export interface ResourceClaimList {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceClaim[];
  readonly kind: "ResourceClaimList";
  readonly metadata: ListMeta;
}

export interface ResourceClaimSpec {
  readonly devices: DeviceClaim;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
}

export interface ResourceClaimTemplate {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceClaimTemplate";
  readonly metadata: StoredMeta;
  readonly spec: ResourceClaimTemplateSpec;
}
export const ResourceClaimTemplate: ResourceType<ResourceClaimTemplate> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  namespaced: true,
};

export interface ResourceClaimTemplateList {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceClaimTemplate[];
  readonly kind: "ResourceClaimTemplateList";
  readonly metadata: ListMeta;
}

export interface ResourceClaimTemplateSpec {
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
}

export interface ResourcePool {
  readonly generation: number;
  readonly name: string;
  readonly resourceSliceCount: number;
}

export interface ResourceSlice {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceSlice";
  readonly metadata: StoredMeta;
  readonly spec: ResourceSliceSpec;
}
export const ResourceSlice: ResourceType<ResourceSlice> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
};

export interface ResourceSliceList {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceSlice[];
  readonly kind: "ResourceSliceList";
  readonly metadata: ListMeta;
}

export interface ResourceSliceSpec {
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly driver: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly perDeviceNodeSelection?: boolean;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSet[];
}
