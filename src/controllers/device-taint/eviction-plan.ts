/** Which pods must leave because of the taints of devices that their claim has, and when. */
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
import { isActive, isPlaced } from "../../resources/pod/pod-state.ts";

/** The slices of a pool, of all generations. */
type FindSlices = (driver: string, pool: string) => readonly ResourceSlice[];

/** Undefined: they may stay for ever. Otherwise the moment, which is past when they must go at once. */
export function findEvictionAt({ status }: ResourceClaim, findSlices: FindSlices): number | undefined {
  let earliest = Infinity;
  for (const result of status.allocation?.devices.results ?? []) {
    const slices = findSlices(result.driver, result.pool);
    for (const taint of drivingTaints(slices, result.device)) {
      earliest = Math.min(earliest, endOfPatience(taint, result));
    }
  }
  return earliest === Infinity ? undefined : earliest;
}

/** The devices in it that have a taint which drives pods away. */
export function drivingDevices({ spec }: ResourceSlice): readonly Device[] {
  return (spec.devices ?? []).filter(({ taints = [] }) => taints.some(isDriving));
}

/** Whether the pod runs with what the claim has: the claim says so, and the pod names it as its own. */
export function isUsing(pod: Pod, claim: ResourceClaim): boolean {
  if (!isPlaced(pod) || !isActive(pod) || !isReservedFor(claim, pod)) return false;
  if (pod.status.extendedResourceClaimStatus?.resourceClaimName === claim.metadata.name) return true;
  return (pod.spec.resourceClaims ?? []).some(
    (wanted) =>
      findClaimName(pod, wanted)?.name === claim.metadata.name &&
      findOwnerProblem(claim, pod, wanted) === undefined,
  );
}

/** As the newest generation of the pool says. */
function drivingTaints(slices: readonly ResourceSlice[], name: string): readonly DeviceTaint[] {
  let newest = 0;
  // Not by reckoning: beyond 2^53 they are bigints.
  for (const { spec } of slices) if (spec.pool.generation > newest) newest = spec.pool.generation;
  for (const { spec } of slices) {
    const device = spec.pool.generation === newest && spec.devices?.find((each) => each.name === name);
    if (device) return (device.taints ?? []).filter(isDriving);
  }
  return [];
}

function isDriving({ effect }: DeviceTaint): boolean {
  return effect === "NoExecute";
}

/** Infinite for a taint that is put up with for ever. Of several tolerations the shortest counts. */
function endOfPatience(taint: DeviceTaint, { tolerations = [] }: DeviceRequestAllocationResult): number {
  const since = taint.timeAdded === undefined ? 0 : Date.parse(taint.timeAdded);
  const fitting = tolerations.filter((it) => it.effect === "NoExecute" && toleratesDeviceTaint(it, taint));
  if (fitting.length === 0) return since;
  if (fitting.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity;
  const seconds = fitting.map(({ tolerationSeconds = 0 }) => Math.max(0, plainNumber(tolerationSeconds)));
  return since + Math.min(...seconds) * 1000;
}
