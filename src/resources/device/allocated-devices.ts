/** Which devices a claim was given, and which of them it has no more. */
import type { ResourceClaimStatus } from "../../api/generated/types/resource-v1.ts";

interface NamedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** The same text for the same device. */
export function deviceKey({ driver, pool, device }: NamedDevice): string {
  return `${driver}/${pool}/${device}`;
}

/** Keys of the devices that it had before and has not now. */
export function deallocatedDevices(
  now: ResourceClaimStatus,
  before: ResourceClaimStatus,
): ReadonlySet<string> {
  const kept = new Set(keysOf(now));
  return new Set(keysOf(before).filter((key) => !kept.has(key)));
}

function keysOf({ allocation }: ResourceClaimStatus): readonly string[] {
  return (allocation?.devices.results ?? []).map(deviceKey);
}
