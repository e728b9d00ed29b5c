/** Relates pods and their resource claims. Error texts equal upstream's. */

import type { Pod, PodResourceClaim } from "../../api/generated/types/core-v1.ts";
import type { ResourceClaim } from "../../api/generated/types/resource-v1.ts";

/**
 * Undefined until the pod's status names its generated claim; the name is undefined when the pod needs no
 * claim.
 */
export function findClaimName(
  { status }: Pod,
  { name, resourceClaimName }: PodResourceClaim,
): { readonly name: string | undefined } | undefined {
  if (resourceClaimName !== undefined) return { name: resourceClaimName };
  const shown = status.resourceClaimStatuses?.find((each) => each.name === name);
  return shown && { name: shown.resourceClaimName };
}

/** Names of the pod's claims that are known, with the claim for its extended resources. */
export function claimNamesOf(pod: Pod): readonly string[] {
  const named = (pod.spec.resourceClaims ?? []).map((wanted) => findClaimName(pod, wanted)?.name);
  const special = pod.status.extendedResourceClaimStatus?.resourceClaimName;
  return [...named, special].filter((name) => name !== undefined);
}

export function notCreatedText({ metadata }: Pod): string {
  return `pod "${metadata.namespace ?? ""}/${metadata.name}": ResourceClaim not created yet`;
}

/** A generated claim must have the pod as its owner. */
export function findOwnerProblem(
  claim: ResourceClaim,
  { metadata }: Pod,
  { resourceClaimName }: PodResourceClaim,
): string | undefined {
  if (resourceClaimName !== undefined) return undefined;
  const owners = claim.metadata.ownerReferences ?? [];
  if (owners.some(({ uid, controller }) => controller === true && uid === metadata.uid)) return undefined;
  const namespace = metadata.namespace ?? "";
  const made = `${namespace}/${claim.metadata.name}`;
  return `ResourceClaim ${made} was not created for pod ${namespace}/${metadata.name} (pod is not owner)`;
}

export function isReservedFor({ status }: ResourceClaim, { metadata }: Pod): boolean {
  return status.reservedFor?.some(({ uid }) => uid === metadata.uid) ?? false;
}
