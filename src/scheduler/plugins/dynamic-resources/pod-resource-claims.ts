/** Reads the device claims of a pod, or the reason, in upstream's words, why it must wait. */

import type { ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { findClaimName, findOwnerProblem, notCreatedText } from "../../../resources/device/pod-claim.ts";
import type { PodInfo } from "../../snapshot/pod-info.ts";

export type PodResourceClaims =
  | { readonly type: "waiting"; readonly reason: string }
  | { readonly type: "ready"; readonly claims: readonly ResourceClaim[] };

type FindClaim = (key: { readonly namespace: string; readonly name: string }) => ResourceClaim | undefined;

export function hasResourceClaims({ pod }: PodInfo): boolean {
  return pod.spec.resourceClaims !== undefined && pod.spec.resourceClaims.length > 0;
}

export function readResourceClaims({ pod, namespace }: PodInfo, findClaim: FindClaim): PodResourceClaims {
  const claims: ResourceClaim[] = [];
  for (const wanted of pod.spec.resourceClaims ?? []) {
    const shown = findClaimName(pod, wanted);
    if (shown === undefined) return waiting(notCreatedText(pod));
    const { name } = shown;
    // The claim controller found that this claim is not needed.
    if (name === undefined) continue;
    const claim = findClaim({ namespace, name });
    if (claim === undefined) return waiting(`resourceclaim.resource.k8s.io ${quoted(name)} not found`);
    if (claim.metadata.deletionTimestamp !== undefined) {
      return waiting(`resourceclaim ${quoted(name)} is being deleted`);
    }
    const problem = findOwnerProblem(claim, pod, wanted);
    if (problem !== undefined) return waiting(problem);
    claims.push(claim);
  }
  return { type: "ready", claims };
}

function waiting(reason: string): PodResourceClaims {
  return { type: "waiting", reason };
}
