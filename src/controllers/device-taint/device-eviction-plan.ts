/** Computes when the pods of a claim must leave because of device taints. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type {
  Device,
  DeviceRequestAllocationResult,
  DeviceTaint,
  ResourceClaim,
  ResourceSlice,
} from "../../api/generated/types/resource-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { toleratesDeviceTaint } from "../../resources/device/device-toleration.ts";
import { findClaimName, findOwnerProblem, isReservedFor } from "../../resources/device/pod-claim.ts";
import { isActive, isAssigned } from "../../resources/pod/pod-state.ts";

/** Finds the slices of a pool, of all generations. */
type FindSlices = (driver: string, pool: string) => readonly ResourceSlice[];

/** Time of the eviction, possibly in the past; undefined if the pods may stay for ever. */
export function findEvictionAt({ status }: ResourceClaim, findSlices: FindSlices): number | undefined {
  let earliest = Infinity;
  for (const result of status.allocation?.devices.results ?? []) {
    const slices = findSlices(result.driver, result.pool);
    for (const taint of evictingTaints(slices, result.device)) {
      earliest = Math.min(earliest, toleratedUntil(taint, result));
    }
  }
  return earliest === Infinity ? undefined : earliest;
}

/** Devices of the slice with a NoExecute taint. */
export function evictingDevices({ spec }: ResourceSlice): readonly Device[] {
  return (spec.devices ?? []).filter(({ taints = [] }) => taints.some(isEvicting));
}

/** The pod runs with the claim: the claim is reserved for the pod, and the pod refers to the claim. */
export function isUsing(pod: Pod, claim: ResourceClaim): boolean {
  if (!isAssigned(pod) || !isActive(pod) || !isReservedFor(claim, pod)) return false;
  if (pod.status.extendedResourceClaimStatus?.resourceClaimName === claim.metadata.name) return true;
  return (pod.spec.resourceClaims ?? []).some(
    (wanted) =>
      findClaimName(pod, wanted)?.name === claim.metadata.name &&
      findOwnerProblem(claim, pod, wanted) === undefined,
  );
}

/** NoExecute taints of the device in the newest generation of its pool. */
function evictingTaints(slices: readonly ResourceSlice[], name: string): readonly DeviceTaint[] {
  let newest = 0;
  // Compared, not subtracted: generations beyond 2^53 are bigints.
  for (const { spec } of slices) if (spec.pool.generation > newest) newest = spec.pool.generation;
  for (const { spec } of slices) {
    const device = spec.pool.generation === newest && spec.devices?.find((each) => each.name === name);
    if (device) return (device.taints ?? []).filter(isEvicting);
  }
  return [];
}

function isEvicting({ effect }: DeviceTaint): boolean {
  return effect === "NoExecute";
}

/** Infinity for a taint that is tolerated for ever. The shortest of several tolerations counts. */
function toleratedUntil(taint: DeviceTaint, { tolerations = [] }: DeviceRequestAllocationResult): number {
  const since = taint.timeAdded === undefined ? 0 : Date.parse(taint.timeAdded);
  const fitting = tolerations.filter((it) => it.effect === "NoExecute" && toleratesDeviceTaint(it, taint));
  if (fitting.length === 0) return since;
  if (fitting.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity;
  const seconds = fitting.map(({ tolerationSeconds = 0 }) => Math.max(0, plainNumber(tolerationSeconds)));
  return since + Math.min(...seconds) * 1000;
}
