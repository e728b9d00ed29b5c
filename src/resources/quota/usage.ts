/** Computes the usage of an object, keyed by the resource names of quotas. */
import type { PersistentVolumeClaim, Pod, Service } from "../../api/generated/types/core-v1.ts";
import type { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { addQuantities, parseQuantity, type Quantity } from "../../api/values/quantity.ts";
import { isDeviceResource } from "../device/extended-resource.ts";
import type { ApiObject } from "../rules/kind-rules.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { claimUsage } from "./claim-usage.ts";
import { type DeviceFacts, deviceUsage, DEVICES_SUFFIX } from "./device-usage.ts";
import { podUsage } from "./pod-usage.ts";
import { serviceUsage } from "./service-usage.ts";

export type Usage = ReadonlyMap<string, Quantity>;

export interface CountedResource {
  readonly group: string;
  /** Plural name. */
  readonly name: string;
}

/** Resources whose count also has the bare name, which predates the form `count/…`. */
const OLD_NAMES: ReadonlySet<string> = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
]);

/** Core resources with further usage besides their count. */
const MEASURED: ReadonlySet<string> = new Set(["persistentvolumeclaims", "pods", "services"]);
const DEVICE_CLAIMS: CountedResource = { group: "resource.k8s.io", name: "resourceclaims" };

const ONE = parseQuantity("1");

/** Example: `count/deployments.apps`. */
function countName({ group, name }: CountedResource): string {
  return group === "" ? `count/${name}` : `count/${name}.${group}`;
}

/** Whether an update of an object can change its usage. */
export function isMeasured({ group, name }: CountedResource): boolean {
  return group === "" ? MEASURED.has(name) : group === DEVICE_CLAIMS.group && name === DEVICE_CLAIMS.name;
}

/** Names under which a quota counts the objects. */
export function countNames(resource: CountedResource): readonly string[] {
  const { group, name } = resource;
  return group === "" && OLD_NAMES.has(name) ? [countName(resource), name] : [countName(resource)];
}

/** Other objects and the time, which the usage depends on. */
export interface UsageFacts extends DeviceFacts {
  readonly now: number;
}

export function usageOf(object: ApiObject, resource: CountedResource, facts: UsageFacts): Usage {
  const usage = new Map<string, Quantity>();
  for (const name of countNames(resource)) usage.set(name, ONE);
  for (const [name, text] of Object.entries(measured(object, resource, facts))) {
    usage.set(name, parseQuantity(text));
  }
  return usage;
}

function measured(object: ApiObject, resource: CountedResource, facts: UsageFacts): ResourceList {
  if (!isMeasured(resource)) return {};
  switch (resource.name) {
    case "pods":
      return podUsage(object as Pod, facts.now);
    case "services":
      return serviceUsage(object as Service);
    case "resourceclaims":
      return deviceUsage(object as ResourceClaim, facts);
    default:
      return claimUsage(object as PersistentVolumeClaim);
  }
}

export function addUsage(sum: Map<string, Quantity>, usage: Usage): void {
  for (const [name, quantity] of usage) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
}

const PODS: CountedResource = { group: "", name: "pods" };

/** Resources whose objects use the quota resource of this name. */
export function resourcesBehind(name: string): readonly CountedResource[] {
  if (name.startsWith("count/")) return [countedResource(name.slice("count/".length))];
  if (OLD_NAMES.has(name)) return [{ group: "", name }];
  if (name.startsWith("services.")) return [{ group: "", name: "services" }];
  if (name.endsWith(DEVICES_SUFFIX)) return [DEVICE_CLAIMS];
  if (name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/"))
    return [{ group: "", name: "persistentvolumeclaims" }];
  const isOfDevices = name.startsWith("requests.") && isDeviceResource(name.slice("requests.".length));
  return isOfDevices ? [PODS, DEVICE_CLAIMS] : [PODS];
}

/** Parses `deployments.apps`; a plural name contains no dot. */
function countedResource(text: string): CountedResource {
  const dot = text.indexOf(".");
  return dot < 0 ? { group: "", name: text } : { group: text.slice(dot + 1), name: text.slice(0, dot) };
}
