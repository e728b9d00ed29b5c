import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { DeviceClass, DeviceRequest, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { EVERY_CLASS, MADE_FOR_RESOURCES } from "../device/extended-resource.ts";
import { resourceNumber } from "../pod/resource-number.ts";
import type { ResourceList } from "../rules/resource-amount.ts";

/** Suffix after the name of a DeviceClass in the name of a quota's resource. */
export const DEVICES_SUFFIX = ".deviceclass.resource.k8s.io/devices";
const REQUESTS = "requests.";
/** Upper bound of a claim for all devices: the limit of its status. */
const ALL = 32;

/** Other objects that the usage depends on. */
export interface DeviceFacts {
  findPod(namespace: string, name: string): Pod | undefined;
  findClass(name: string): DeviceClass | undefined;
  /** True for a delete. The pod may be gone already, and its share must not be released twice. */
  readonly isRemoval?: boolean;
}

/**
 * Upper bound of the devices that a claim can get, keyed by class and by extended resource. A claim for a
 * pod's extended resources excludes the ones that the pod requests: those are charged to the pod.
 */
export function deviceUsage(claim: ResourceClaim, facts: DeviceFacts): ResourceList {
  const sums = new Map<string, number>();
  const add = (name: string, count: number): void => void sums.set(name, (sums.get(name) ?? 0) + count);
  const pod = podBehind(claim, facts);
  const isLeftOver = pod === undefined && facts.isRemoval === true && isMadeForPod(claim);
  for (const request of claim.spec.devices.requests) {
    for (const [name, count] of mostOf(request)) {
      const asked = pod && askedBy(pod, request.name, count);
      const resources = isLeftOver ? [] : resourcesOf(name, facts).filter((resource) => resource !== asked);
      for (const used of [name + DEVICES_SUFFIX, ...resources.map((it) => REQUESTS + it)]) add(used, count);
    }
  }
  return Object.fromEntries([...sums].map(([name, count]) => [name, String(count)]));
}

/** Extended resources that a class provides. */
function resourcesOf(className: string, facts: DeviceFacts): readonly string[] {
  const explicit = facts.findClass(className)?.spec.extendedResourceName;
  return [EVERY_CLASS + className, ...(explicit === undefined ? [] : [explicit])];
}

function isMadeForPod({ metadata }: ResourceClaim): boolean {
  return metadata.annotations?.[MADE_FOR_RESOURCES] === "true";
}

/** Every user can set the annotation. The pod must therefore own the claim and name no other claim. */
function podBehind(claim: ResourceClaim, facts: DeviceFacts): Pod | undefined {
  const { name, namespace = "", ownerReferences = [] } = claim.metadata;
  if (!isMadeForPod(claim)) return undefined;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner?.apiVersion !== "v1" || owner.kind !== "Pod") return undefined;
  const pod = facts.findPod(namespace, owner.name);
  return pod?.metadata.uid === owner.uid && knowsNoOther(pod, name) ? pod : undefined;
}

function knowsNoOther({ status }: Pod, claim: string): boolean {
  return (status.extendedResourceClaimStatus?.resourceClaimName ?? claim) === claim;
}

const NAME_OF_PLACE = /^container-(?<container>\d+)-request-(?<place>\d+)$/;

/** The extended resource of a request whose name holds its position, if the pod requests as many. */
function askedBy({ spec }: Pod, request: string, count: number): string | undefined {
  const { container = "-1", place = "-1" } = NAME_OF_PLACE.exec(request)?.groups ?? {};
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const requests = Object.entries(containers[Number(container)]?.resources.requests ?? {});
  const [name, text] = requests.toSorted(([a], [b]) => (a < b ? -1 : 1))[Number(place)] ?? ["", "0"];
  return resourceNumber(name, text) >= count ? name : undefined;
}

type SingleRequest =
  | NonNullable<DeviceRequest["exactly"]>
  | NonNullable<DeviceRequest["firstAvailable"]>[number];

/** The scheduler picks one of the alternatives later, so each class counts with its largest alternative. */
function mostOf({ exactly, firstAvailable = [] }: DeviceRequest): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const singles: readonly SingleRequest[] =
    firstAvailable.length > 0 ? firstAvailable : exactly === undefined ? [] : [exactly];
  for (const single of singles) {
    const { deviceClassName } = single;
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, countOf(single)));
  }
  return most;
}

function countOf({ allocationMode, count = 0 }: SingleRequest): number {
  return allocationMode === "All" ? ALL : plainNumber(count);
}
