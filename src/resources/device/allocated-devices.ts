/** Compares the devices of two statuses of one claim. */
import type { ResourceClaimStatus } from "../../api/generated/types/resource-v1.ts";

interface NamedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** Equal for equal devices. */
export function deviceKey({ driver, pool, device }: NamedDevice): string {
  return `${driver}/${pool}/${device}`;
}

/** Keys of the devices that are in `before` and not in `now`. */
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
