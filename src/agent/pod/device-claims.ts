/** Checks that a pod may use its device claims. Error texts equal the kubelet's. */

import type { Pod } from "../../api/generated/types/core-v1.ts";
import { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { Client } from "../../client/client.ts";
import {
  findClaimName,
  findOwnerProblem,
  isReservedFor,
  notCreatedText,
} from "../../resources/device/pod-claim.ts";

export function hasDeviceClaims({ spec }: Pod): boolean {
  return spec.resourceClaims !== undefined && spec.resourceClaims.length > 0;
}

/** Reads claims from the API: a cache may be older than the pod's binding. */
export async function findDeviceProblem(pod: Pod, client: Client): Promise<string | undefined> {
  for (const wanted of pod.spec.resourceClaims ?? []) {
    const shown = findClaimName(pod, wanted);
    if (shown === undefined) return notCreatedText(pod);
    const { name } = shown;
    if (name === undefined) continue;
    const claim = await readClaim(client, { namespace: pod.metadata.namespace ?? "", name });
    if (typeof claim === "string") return `fetch ResourceClaim ${name}: ${claim}`;
    const problem = findOwnerProblem(claim, pod, wanted);
    if (problem !== undefined) return problem;
    if (isReservedFor(claim, pod)) continue;
    const { metadata } = pod;
    return `pod ${metadata.name} (${metadata.uid}) is not allowed to use ResourceClaim ${name} (${claim.metadata.uid})`;
  }
  return undefined;
}

/** Returns a text when the read fails. */
async function readClaim(
  client: Client,
  key: { readonly namespace: string; readonly name: string },
): Promise<ResourceClaim | string> {
  try {
    return await client(ResourceClaim).get(key);
  } catch (error) {
    return errorText(error);
  }
}
