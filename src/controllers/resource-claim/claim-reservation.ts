/**
 * Reserves allocated ResourceClaims for pods that were bound without the scheduler.
 *
 * Reads Pods and ResourceClaims; writes claim status. The scheduler reserves claims itself before it binds a pod.
 */
import { Pod, type PodResourceClaim } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import {
  claimNamesOf,
  findClaimName,
  findOwnerProblem,
  isReservedFor,
} from "../../resources/device/pod-claim.ts";
import { isActive, isAssigned } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";

/** Index of pods by the claims they use. */
const BY_CLAIM = "device-claim";

export const claimReservationController = defineController({
  name: "resource-claim-reservation-controller",
  for: Pod,
  indexes: [indexing(Pod, BY_CLAIM, claimKeysOf)],
  watches: [
    watching(ResourceClaim, ({ after }, cache) => {
      if (after?.status.allocation === undefined) return [];
      const { namespace = "", name } = after.metadata;
      return cache(Pod)
        .indexed(BY_CLAIM, `${namespace}/${name}`)
        .filter((pod) => isAssigned(pod) && !isReservedFor(after, pod))
        .map(({ metadata }) => ({ namespace, name: metadata.name }));
    }),
  ],
  when: ({ after }) => after?.spec.resourceClaims !== undefined && isAssigned(after),
  reconcile,
});

async function reconcile(pod: Pod, context: ReconcileContext): Promise<void> {
  if (!isAssigned(pod) || !isActive(pod)) return;
  for (const wanted of pod.spec.resourceClaims ?? []) await reserve(pod, wanted, context);
}

async function reserve(
  pod: Pod,
  wanted: PodResourceClaim,
  { cache, client }: ReconcileContext,
): Promise<void> {
  const { name, uid, namespace = "" } = pod.metadata;
  const claimName = findClaimName(pod, wanted)?.name;
  if (claimName === undefined) return;
  const claim = cache(ResourceClaim).find({ namespace, name: claimName });
  if (claim?.status.allocation === undefined || isReservedFor(claim, pod)) return;
  if (findOwnerProblem(claim, pod, wanted) !== undefined) return;
  const reservedFor = [...(claim.status.reservedFor ?? []), { resource: "pods", name, uid }];
  await client(ResourceClaim).updateStatus(claim, { ...claim.status, reservedFor });
}

function claimKeysOf(pod: Pod): readonly string[] {
  const { namespace = "" } = pod.metadata;
  return claimNamesOf(pod).map((name) => `${namespace}/${name}`);
}
