/**
 * Removes pods that no longer need a ResourceClaim from its users, and frees its devices once no user is left.
 *
 * Reads ResourceClaims and Pods. Writes claim status, removes the delete-protection finalizer, and deletes generated claims of ended pods.
 */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import type {
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from "../../api/generated/types/resource-v1.ts";
import { claimNamesOf } from "../../resources/device/pod-claim.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, ReconcileContext } from "../../runtime/controller/controller.ts";
import { controllerOf, isOfType } from "../../runtime/refs/owner-reference.ts";

/** Finalizer that the allocator sets and that stays until the devices are freed. */
const PROTECTION = "resource.kubernetes.io/delete-protection";

export const claimReleaseController = defineController({
  name: "resource-claim-release-controller",
  for: ResourceClaim,
  watches: [
    watching(Pod, function* ({ before, after }) {
      const pod = after ?? before;
      if (pod === undefined || (after !== undefined && !isDone(after))) return;
      const { namespace = "" } = pod.metadata;
      for (const name of claimNamesOf(pod)) yield { namespace, name };
    }),
  ],
  reconcile,
});

async function reconcile(claim: ResourceClaim, context: ReconcileContext): Promise<void> {
  const users = await usersOf(claim, context);
  const plan = planRelease(claim, users, { isOwnerDone: isOfEndedPod(claim, context.cache) });

  const newest = plan.status === undefined ? claim : await context.updateStatus(claim, plan.status);
  if (plan.isUnprotected) await unprotect(newest, context);
  if (plan.isDeleted) await context.client(ResourceClaim).delete(newest);
}

interface ReleasePlan {
  /** Undefined if the status stays unchanged. */
  readonly status?: ResourceClaimStatus;
  readonly isUnprotected: boolean;
  readonly isDeleted: boolean;
}

/**
 * A claim that was never used keeps its finalizer: the allocator sets it before the allocation. A deleted claim loses a finalizer that a
 * crash left behind. Devices of a claim without the finalizer belong to another allocator, which frees them.
 */
function planRelease(
  { metadata, status }: ResourceClaim,
  users: readonly ResourceClaimConsumerReference[],
  { isOwnerDone }: { readonly isOwnerDone: boolean },
): ReleasePlan {
  const { reservedFor = [], allocation } = status;
  const isBeingDeleted = metadata.deletionTimestamp !== undefined;
  const isIdle = users.length === 0;
  const isProtected = metadata.finalizers?.includes(PROTECTION) === true;
  const isReleased = isProtected && isIdle && (reservedFor.length > 0 || isBeingDeleted);
  const isChanged = users.length < reservedFor.length || (isReleased && allocation !== undefined);
  return {
    ...(isChanged && { status: isReleased ? {} : withUsers(status, users) }),
    isUnprotected: isReleased,
    isDeleted: isIdle && !isBeingDeleted && isOwnerDone,
  };
}

function withUsers(
  { reservedFor: _before, ...others }: ResourceClaimStatus,
  users: readonly ResourceClaimConsumerReference[],
): ResourceClaimStatus {
  return users.length === 0 ? others : { ...others, reservedFor: users };
}

async function unprotect(claim: ResourceClaim, { client }: ReconcileContext): Promise<void> {
  const { finalizers = [], resourceVersion } = claim.metadata;
  const kept = finalizers.filter((name) => name !== PROTECTION);
  const changes = { metadata: { resourceVersion, finalizers: kept } };
  await client(ResourceClaim).patch(claim, { type: "merge", changes });
}

async function usersOf(
  { metadata: { namespace = "" }, status }: ResourceClaim,
  context: ReconcileContext,
): Promise<readonly ResourceClaimConsumerReference[]> {
  const users: ResourceClaimConsumerReference[] = [];
  for (const user of status.reservedFor ?? []) {
    if (await isUsing(user, namespace, context)) users.push(user);
  }
  return users;
}

/** True for a pod that may still run, and for a user of another kind. */
async function isUsing(
  { apiGroup = "", resource, name, uid }: ResourceClaimConsumerReference,
  namespace: string,
  { cache, client }: ReconcileContext,
): Promise<boolean> {
  if (apiGroup !== "" || resource !== "pods") return true;
  const known = cache(Pod).find({ namespace, name });
  // A claim may be reserved for a pod that this cache lacks.
  const pod = known?.metadata.uid === uid ? known : await client(Pod).find({ namespace, name });
  return pod?.metadata.uid === uid && !isDone(pod);
}

function isOfEndedPod(claim: ResourceClaim, cache: CacheReader): boolean {
  const owner = controllerOf(claim);
  if (owner === undefined || !isOfType(owner, Pod)) return false;
  const { namespace = "" } = claim.metadata;
  const pod = cache(Pod).find({ namespace, name: owner.name });
  return pod?.metadata.uid === owner.uid && isDone(pod);
}

/** The pod has ended, or will never start. */
function isDone(pod: Pod): boolean {
  const isCancelled = pod.metadata.deletionTimestamp !== undefined && (pod.spec.nodeName ?? "") === "";
  return isTerminal(pod) || isCancelled;
}
