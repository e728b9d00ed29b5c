/** Reads the volume claims of a pod: bound, to be bound on demand, or not usable yet. */

import {
  PersistentVolumeClaim,
  type PersistentVolume,
  type Volume,
} from "../../api/generated/types/core-v1.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { quoted } from "../../api/values/message-text.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";

export type PodClaims =
  /** The pod must wait for this reason. */
  | { readonly type: "waiting"; readonly reason: string }
  | {
      readonly type: "ready";
      readonly bound: readonly PersistentVolumeClaim[];
      /** Claims to bind once the pod's node is chosen. */
      readonly delayed: readonly PersistentVolumeClaim[];
    };

export function hasClaims({ pod }: PodInfo): boolean {
  return (pod.spec.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
}

export function knownClaims(pod: PodInfo, cache: CacheReader): readonly PersistentVolumeClaim[] {
  return (pod.pod.spec.volumes ?? []).flatMap((volume) => {
    const name = claimName(pod, volume);
    if (name === undefined) return [];
    return cache(PersistentVolumeClaim).find({ namespace: pod.namespace, name }) ?? [];
  });
}

export function readClaims(pod: PodInfo, cache: CacheReader): PodClaims {
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  let hasUnboundImmediate = false;
  for (const volume of pod.pod.spec.volumes ?? []) {
    const name = claimName(pod, volume);
    if (name === undefined) continue;
    const claim = cache(PersistentVolumeClaim).find({ namespace: pod.namespace, name });
    const reason = waitReason(pod, { volume, name, claim });
    if (claim === undefined || reason !== undefined) return { type: "waiting", reason: reason ?? "" };
    if (isBound(claim)) bound.push(claim);
    else if (claim.spec.volumeName === undefined && isDelayed(claim, cache)) delayed.push(claim);
    else hasUnboundImmediate = true;
  }
  if (hasUnboundImmediate) {
    return { type: "waiting", reason: "pod has unbound immediate PersistentVolumeClaims" };
  }
  return { type: "ready", bound, delayed };
}

interface NamedClaim {
  readonly volume: Volume;
  readonly name: string;
  readonly claim: PersistentVolumeClaim | undefined;
}

function waitReason({ uid }: PodInfo, { volume, name, claim }: NamedClaim): string | undefined {
  if (claim === undefined) {
    return volume.ephemeral === undefined
      ? `persistentvolumeclaim ${quoted(name)} not found`
      : `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted(name)}`;
  }
  const isOwned = claim.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  if (volume.ephemeral !== undefined && !isOwned) {
    const place = `${claim.metadata.namespace ?? ""}/${name}`;
    return `PVC ${place} was not created for pod (pod is not owner)`;
  }
  if (claim.status.phase === "Lost") {
    const volumeName = quoted(claim.spec.volumeName ?? "");
    return `persistentvolumeclaim ${quoted(name)} bound to non-existent persistentvolume ${volumeName}`;
  }
  return claim.metadata.deletionTimestamp === undefined
    ? undefined
    : `persistentvolumeclaim ${quoted(name)} is being deleted`;
}

/** Both claim and volume record the binding. */
export function isBound({ spec, status, metadata }: PersistentVolumeClaim): boolean {
  if (spec.volumeName === undefined) return false;
  return status.phase === "Bound" || ownValue(metadata.annotations, BIND_COMPLETED) !== undefined;
}

/** The claim's class binds volumes only after the pod's node is chosen. */
function isDelayed(claim: PersistentVolumeClaim, cache: CacheReader): boolean {
  const name = storageClassOf(claim);
  if (name === "") return false;
  return cache(StorageClass).find({ name })?.volumeBindingMode === "WaitForFirstConsumer";
}

export function claimKey({ metadata }: PersistentVolumeClaim): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** The volume is reserved for the claim. */
export function isClaimedBy({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec;
  if (claimRef === undefined) return false;
  // A volume reserved by hand names no uid.
  const { name, namespace, uid = "" } = claimRef;
  const isSame = uid === "" || uid === metadata.uid;
  return name === metadata.name && namespace === metadata.namespace && isSame;
}

function claimName({ name }: PodInfo, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral === undefined ? undefined : `${name}-${volume.name}`;
}
