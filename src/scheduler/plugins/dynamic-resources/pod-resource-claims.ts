/** The device claims of a pod, and why it must wait for one of them, in upstream's words. */

import type { PodResourceClaim } from "../../../api/generated/types/core-v1.ts";
import type { ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { quoted } from "../../../api/message-text.ts";
import { controllerOf } from "../../../runtime/owner-reference.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";
import { claimKey } from "./wish.ts";

export type PodResourceClaims =
  | { readonly type: "waiting"; readonly reason: string }
  | { readonly type: "ready"; readonly claims: readonly ResourceClaim[] };

type FindClaim = (key: { readonly namespace: string; readonly name: string }) => ResourceClaim | undefined;

export function hasResourceClaims({ pod }: PodInfo): boolean {
  return pod.spec.resourceClaims !== undefined && pod.spec.resourceClaims.length > 0;
}

export function readResourceClaims(pod: PodInfo, findClaim: FindClaim): PodResourceClaims {
  const claims: ResourceClaim[] = [];
  for (const wanted of pod.pod.spec.resourceClaims ?? []) {
    const shown = shownName(pod, wanted);
    if (shown === undefined) {
      return { type: "waiting", reason: `pod ${quoted(pod.key)}: ResourceClaim not created yet` };
    }
    // Whoever makes claims has found that this one is not needed.
    if (shown.name === undefined) continue;
    const claim = findClaim({ namespace: pod.namespace, name: shown.name });
    const reason = waitReason(pod, wanted, { claim, name: shown.name });
    if (claim === undefined || reason !== undefined) return { type: "waiting", reason: reason ?? "" };
    claims.push(claim);
  }
  return { type: "ready", claims };
}

/** Undefined while nobody has said which claim was made for it. */
function shownName(
  { pod }: PodInfo,
  { name, resourceClaimName }: PodResourceClaim,
): { readonly name: string | undefined } | undefined {
  if (resourceClaimName !== undefined) return { name: resourceClaimName };
  const shown = pod.status.resourceClaimStatuses?.find((each) => each.name === name);
  return shown && { name: shown.resourceClaimName };
}

interface NamedClaim {
  readonly claim: ResourceClaim | undefined;
  readonly name: string;
}

function waitReason(
  pod: PodInfo,
  { resourceClaimName }: PodResourceClaim,
  { claim, name }: NamedClaim,
): string | undefined {
  if (claim === undefined) return `resourceclaim.resource.k8s.io ${quoted(name)} not found`;
  if (claim.metadata.deletionTimestamp !== undefined) return `resourceclaim ${quoted(name)} is being deleted`;
  if (resourceClaimName !== undefined || controllerOf(claim)?.uid === pod.uid) return undefined;
  return `ResourceClaim ${claimKey(claim)} was not created for pod ${pod.key} (pod is not owner)`;
}

export function isReservedFor({ status }: ResourceClaim, { uid }: PodInfo): boolean {
  return status.reservedFor?.some((user) => user.uid === uid) ?? false;
}
