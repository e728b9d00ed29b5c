import type { DeviceRequest, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import type { ResourceList } from "../resource-amount.ts";

/** Follows the name of a DeviceClass in the name of what a quota bounds. */
export const DEVICES_SUFFIX = ".deviceclass.resource.k8s.io/devices";
/** A claim for all devices gets no more than fit into its status. */
const ALL = 32;

/** How many devices of each class a claim may get at most. */
export function deviceUsage({ spec }: ResourceClaim): ResourceList {
  const sums = new Map<string, number>();
  for (const request of spec.devices.requests)
    for (const [name, count] of mostOf(request)) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries([...sums].map(([name, count]) => [name + DEVICES_SUFFIX, String(count)]));
}

type Wish = NonNullable<DeviceRequest["exactly"]> | NonNullable<DeviceRequest["firstAvailable"]>[number];

/** Of alternatives one is taken, and nobody knows yet which: of each class the most that any of them asks for. */
function mostOf({ exactly, firstAvailable = [] }: DeviceRequest): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const wishes: readonly Wish[] =
    firstAvailable.length > 0 ? firstAvailable : exactly === undefined ? [] : [exactly];
  for (const wish of wishes) {
    const { deviceClassName } = wish;
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, countOf(wish)));
  }
  return most;
}

function countOf({ allocationMode, count = 0 }: Wish): number {
  return allocationMode === "All" ? ALL : count;
}
