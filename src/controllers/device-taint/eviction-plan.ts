/** When pods must leave because of the taints of devices that their claim has. */
import type {
  DeviceRequestAllocationResult,
  DeviceTaint,
  ResourceClaim,
  ResourceSlice,
} from "../../api/generated/types/resource-v1.ts";
import { toleratesDeviceTaint } from "../../resources/device/device-toleration.ts";

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

/** Whether a device in it has a taint that drives pods away. */
export function hasDrivingTaints({ spec }: ResourceSlice): boolean {
  return (spec.devices ?? []).some(({ taints = [] }) => taints.some(isDriving));
}

/** As the newest generation of the pool says. */
function drivingTaints(slices: readonly ResourceSlice[], name: string): readonly DeviceTaint[] {
  const newest = Math.max(...slices.map(({ spec }) => spec.pool.generation));
  const devices = slices
    .filter(({ spec }) => spec.pool.generation === newest)
    .flatMap(({ spec }) => spec.devices ?? []);
  return (devices.find((device) => device.name === name)?.taints ?? []).filter(isDriving);
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
  const seconds = fitting.map(({ tolerationSeconds = 0 }) => Math.max(0, tolerationSeconds));
  return since + Math.min(...seconds) * 1000;
}
