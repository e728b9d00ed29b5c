/**
 * Deletes pods that use a device with a NoExecute taint which their claim does not tolerate, or no longer tolerates.
 *
 * Reads ResourceClaims, ResourceSlices and Pods. Writes the condition DisruptionTarget of evicted pods and deletes them.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim, ResourceSlice } from "../../api/generated/types/resource-v1.ts";
import { deviceKey } from "../../resources/device/allocated-devices.ts";
import { claimNamesOf } from "../../resources/device/pod-claim.ts";
import { isAssigned } from "../../resources/pod/pod-state.ts";
import { isSame } from "../../resources/rules/value-rules.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { evictingDevices, findEvictionAt, isUsing } from "./device-eviction-plan.ts";

/** Index of slices by the `driver/pool` of their devices. */
const BY_POOL = "device-pool";
/** Index of claims by their allocated devices. */
const BY_DEVICE = "device";
const WHY = {
  reason: "DeletionByDeviceTaintManager",
  message: "Device Taint manager: deleting due to NoExecute taint",
};

export const deviceTaintEvictionController = defineController({
  name: "device-taint-eviction-controller",
  for: ResourceClaim,
  indexes: [
    indexing(ResourceSlice, BY_POOL, (slice) => [poolOf(slice)]),
    indexing(ResourceClaim, BY_DEVICE, devicesOf),
  ],
  watches: [
    watching(ResourceSlice, function* ({ before, after }, cache) {
      for (const key of affectedDevices(before, after)) {
        for (const { metadata } of cache(ResourceClaim).indexed(BY_DEVICE, key)) {
          yield { namespace: metadata.namespace ?? "", name: metadata.name };
        }
      }
    }),
    // A claim may list its user before the pod is bound, and before the pod's status lists the claim.
    watching(Pod, ({ before, after }) =>
      after !== undefined && isAssigned(after) && !isUnchanged(before, after) ? claimKeysOf(after) : [],
    ),
  ],
  reconcile,
});

async function reconcile(claim: ResourceClaim, context: ReconcileContext): Promise<Outcome> {
  const { cache, clock } = context;
  const at = findEvictionAt(claim, (driver, pool) =>
    cache(ResourceSlice).indexed(BY_POOL, `${driver}/${pool}`),
  );
  const users = at === undefined ? [] : usersOf(claim, context);
  if (at === undefined || users.length === 0) return undefined;
  const leftMs = at - clock.now();
  if (leftMs > 0) return { recheckAfterMs: leftMs };
  for (const pod of users) await evict(pod, context);
  return undefined;
}

/** Running pods that use the claim's devices. */
function usersOf(claim: ResourceClaim, { cache }: ReconcileContext): readonly Pod[] {
  const { namespace = "" } = claim.metadata;
  return (claim.status.reservedFor ?? []).flatMap(({ resource, name }) => {
    const pod = resource === "pods" ? cache(Pod).find({ namespace, name }) : undefined;
    return pod !== undefined && isUsing(pod, claim) ? [pod] : [];
  });
}

async function evict(pod: Pod, { client, clock, event }: ReconcileContext): Promise<void> {
  event(pod, { type: "Normal", reason: "DeviceTaintManagerEviction", message: "Marking for deletion" });
  const conditions = [disruptionTarget(pod, WHY, clock.now())];
  const changes = { metadata: { uid: pod.metadata.uid }, status: { conditions } };
  try {
    await client(Pod).patch(pod, { type: "strategic", changes }, { subresource: "status" });
    await client(Pod).delete(pod);
  } catch (error) {
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
  }
}

function isUnchanged(before: Pod | undefined, after: Pod): boolean {
  if (before === undefined || !isAssigned(before)) return false;
  return isSame(before.status.resourceClaimStatuses, after.status.resourceClaimStatuses);
}

function poolOf({ spec }: ResourceSlice): string {
  return `${spec.driver}/${spec.pool.name}`;
}

function devicesOf({ status }: ResourceClaim): readonly string[] {
  return [...new Set((status.allocation?.devices.results ?? []).map(deviceKey))];
}

/** Keys of devices with a NoExecute taint, before or after the change. */
function affectedDevices(...slices: readonly (ResourceSlice | undefined)[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const slice of slices) {
    if (slice === undefined) continue;
    const { driver, pool } = slice.spec;
    for (const { name } of evictingDevices(slice)) {
      keys.add(deviceKey({ driver, pool: pool.name, device: name }));
    }
  }
  return keys;
}

function claimKeysOf(pod: Pod): readonly { readonly namespace: string; readonly name: string }[] {
  const { namespace = "" } = pod.metadata;
  return claimNamesOf(pod).map((name) => ({ namespace, name }));
}
