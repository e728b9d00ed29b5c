/**
 * Deletes pods that use a device with a NoExecute taint which their claim does not put up with, or no longer does.
 *
 * Reads ResourceClaims, ResourceSlices and Pods; writes the condition DisruptionTarget of pods that must go, and deletes them.
 */
import { isApiError } from "../../api/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim, ResourceSlice } from "../../api/generated/types/resource-v1.ts";
import { findClaimName } from "../../resources/device/pod-claim.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { findEvictionAt, hasDrivingTaints } from "./eviction-plan.ts";

/** Slices and claims by `driver/pool` of their devices. */
const BY_POOL = "device-pool";
const WHY = {
  reason: "DeletionByDeviceTaintManager",
  message: "Device Taint manager: deleting due to NoExecute taint",
};

export const deviceTaintEvictionController = defineController({
  name: "device-taint-eviction-controller",
  for: ResourceClaim,
  indexes: [
    indexing(ResourceSlice, BY_POOL, (slice) => [poolOf(slice)]),
    indexing(ResourceClaim, BY_POOL, poolsOf),
  ],
  watches: [
    watching(ResourceSlice, ({ before, after }, cache) => {
      const slice = after ?? before;
      const isConcerned = [before, after].some((it) => it !== undefined && hasDrivingTaints(it));
      if (slice === undefined || !isConcerned) return [];
      return cache(ResourceClaim)
        .indexed(BY_POOL, poolOf(slice))
        .map(({ metadata: { namespace = "", name } }) => ({ namespace, name }));
    }),
    // A pod becomes a user of its claims before it is on its node.
    watching(Pod, ({ before, after }) =>
      after !== undefined && isPlaced(after) && (before === undefined || !isPlaced(before))
        ? claimKeysOf(after)
        : [],
    ),
  ],
  reconcile,
});

async function reconcile(claim: ResourceClaim, context: ReconcileContext): Promise<Outcome> {
  const { cache, clock } = context;
  const at = findEvictionAt(claim, (driver, pool) =>
    cache(ResourceSlice).indexed(BY_POOL, `${driver}/${pool}`),
  );
  if (at === undefined) return undefined;
  const leftMs = at - clock.now();
  if (leftMs > 0) return { recheckAfterMs: leftMs };
  for (const pod of usersOf(claim, context)) await evict(pod, context);
  return undefined;
}

/** The pods that run with its devices. */
function usersOf({ metadata, status }: ResourceClaim, { cache }: ReconcileContext): readonly Pod[] {
  const { namespace = "" } = metadata;
  return (status.reservedFor ?? []).flatMap(({ resource, name, uid }) => {
    const pod = resource === "pods" ? cache(Pod).find({ namespace, name }) : undefined;
    if (pod?.metadata.uid !== uid || !isPlaced(pod) || isTerminal(pod)) return [];
    return pod.metadata.deletionTimestamp === undefined ? [pod] : [];
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

function isPlaced({ spec }: Pod): boolean {
  return (spec.nodeName ?? "") !== "";
}

function poolOf({ spec }: ResourceSlice): string {
  return `${spec.driver}/${spec.pool.name}`;
}

function poolsOf({ status }: ResourceClaim): readonly string[] {
  const results = status.allocation?.devices.results ?? [];
  return [...new Set(results.map(({ driver, pool }) => `${driver}/${pool}`))];
}

function* claimKeysOf(pod: Pod): Iterable<{ readonly namespace: string; readonly name: string }> {
  const { namespace = "" } = pod.metadata;
  for (const wanted of pod.spec.resourceClaims ?? []) {
    const name = findClaimName(pod, wanted)?.name;
    if (name !== undefined) yield { namespace, name };
  }
}
