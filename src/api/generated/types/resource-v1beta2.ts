// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { NodeSelector } from "./core-v1.ts";
import type { Condition, ListMeta, ObjectMeta, StoredMeta } from "./meta-v1.ts";

export type AllocatedDeviceStatus = {
  readonly conditions: readonly Condition[];
  readonly data?: unknown;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceData;
  readonly pool: string;
  readonly shareID?: string;
};

export type AllocationResult = {
  readonly allocationTimestamp?: string;
  readonly devices: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
};

export type CELDeviceSelector = {
  readonly expression: string;
};

export type CapacityRequestPolicy = {
  readonly default: string;
  readonly validRange?: CapacityRequestPolicyRange;
  readonly validValues?: readonly string[];
};

export type CapacityRequestPolicyRange = {
  readonly max?: string;
  readonly min?: string;
  readonly step?: string;
};

export type CapacityRequirements = {
  readonly requests?: Readonly<Record<string, string>>;
};

export type Counter = {
  readonly value: string;
};

export type CounterSet = {
  readonly counters?: Readonly<Record<string, Counter>>;
  readonly name: string;
};

export type Device = {
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
};

export type DeviceAllocationConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
  readonly source: "FromClaim" | "FromClass";
};

export type DeviceAllocationResult = {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResult[];
};

export type DeviceAttribute = {
  readonly bool?: boolean;
  readonly bools?: readonly boolean[];
  readonly int?: number;
  readonly ints?: readonly number[];
  readonly string?: string;
  readonly strings?: readonly string[];
  readonly version?: string;
  readonly versions?: readonly string[];
};

export type DeviceCapacity = {
  readonly requestPolicy?: CapacityRequestPolicy;
  readonly value: string;
};

export type DeviceClaim = {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests: readonly DeviceRequest[];
};

export type DeviceClaimConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
};

export type DeviceClass = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "DeviceClass";
  readonly metadata: StoredMeta;
  readonly spec: DeviceClassSpec;
};
export const DeviceClass: ResourceType<DeviceClass> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
};

export type DeviceClassConfiguration = {
  readonly opaque?: OpaqueDeviceConfiguration;
};

export type DeviceClassList = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly DeviceClass[];
  readonly kind: "DeviceClassList";
  readonly metadata: ListMeta;
};

export type DeviceClassSpec = {
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
  readonly selectors?: readonly DeviceSelector[];
};

export type DeviceConstraint = {
  readonly distinctAttribute?: string;
  readonly matchAttribute?: string;
  readonly requests?: readonly string[];
};

export type DeviceCounterConsumption = {
  readonly counterSet: string;
  readonly counters?: Readonly<Record<string, Counter>>;
};

export type DeviceRequest = {
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
  readonly name: string;
};

export type DeviceRequestAllocationResult = {
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
};

export type DeviceSelector = {
  readonly cel?: CELDeviceSelector;
};

export type DeviceSubRequest = {
  readonly allocationMode?: string;
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
};

export type DeviceTaint = {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
};

export type DeviceTaintRule = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "DeviceTaintRule";
  readonly metadata: StoredMeta;
  readonly spec: DeviceTaintRuleSpec;
  readonly status: DeviceTaintRuleStatus;
};
export const DeviceTaintRule: ResourceType<DeviceTaintRule> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "DeviceTaintRule",
  plural: "devicetaintrules",
  namespaced: false,
};

export type DeviceTaintRuleList = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
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

export type DeviceToleration = {
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly tolerationSeconds?: number;
  readonly value?: string;
};

export type ExactDeviceRequest = {
  readonly adminAccess?: boolean;
  readonly allocationMode?: string;
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
};

export type NetworkDeviceData = {
  readonly hardwareAddress?: string;
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
};

export type NodeAllocatableResourceMapping = {
  readonly allocationMultiplier?: string;
  readonly capacityKey?: string;
};

export type OpaqueDeviceConfiguration = {
  readonly driver: string;
  readonly parameters: unknown;
};

export type ResourceClaim = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceClaim";
  readonly metadata: StoredMeta;
  readonly spec: ResourceClaimSpec;
  readonly status: ResourceClaimStatus;
};
export const ResourceClaim: ResourceType<ResourceClaim> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
};

export type ResourceClaimConsumerReference = {
  readonly apiGroup?: string;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
};

export type ResourceClaimList = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceClaim[];
  readonly kind: "ResourceClaimList";
  readonly metadata: ListMeta;
};

export type ResourceClaimSpec = {
  readonly devices: DeviceClaim;
};

export type ResourceClaimStatus = {
  readonly allocation?: AllocationResult;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
};

export type ResourceClaimTemplate = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceClaimTemplate";
  readonly metadata: StoredMeta;
  readonly spec: ResourceClaimTemplateSpec;
};
export const ResourceClaimTemplate: ResourceType<ResourceClaimTemplate> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  namespaced: true,
};

export type ResourceClaimTemplateList = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceClaimTemplate[];
  readonly kind: "ResourceClaimTemplateList";
  readonly metadata: ListMeta;
};

export type ResourceClaimTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: ResourceClaimSpec;
};

export type ResourcePool = {
  readonly generation: number;
  readonly name: string;
  readonly resourceSliceCount: number;
};

export type ResourceSlice = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly kind: "ResourceSlice";
  readonly metadata: StoredMeta;
  readonly spec: ResourceSliceSpec;
};
export const ResourceSlice: ResourceType<ResourceSlice> = {
  apiVersion: "resource.k8s.io/v1beta2",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
};

export type ResourceSliceList = {
  readonly apiVersion: "resource.k8s.io/v1beta2";
  readonly items: readonly ResourceSlice[];
  readonly kind: "ResourceSliceList";
  readonly metadata: ListMeta;
};

export type ResourceSliceSpec = {
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly driver: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly perDeviceNodeSelection?: boolean;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSet[];
};
