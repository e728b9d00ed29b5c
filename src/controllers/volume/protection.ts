/**
 * Keeps claims that pods use, volumes that claims have, and classes of attributes that either names, from going before their users do.
 *
 * Three loops: one for PersistentVolumeClaims, which reads Pods, one for PersistentVolumes, and one for VolumeAttributesClasses, which reads both.
 * Each puts a finalizer on every object and takes it off one that is deleted and no longer in use.
 */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import { VolumeAttributesClass } from "../../api/generated/types/storage-v1.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import { isControlledBy } from "../../runtime/refs/owner-reference.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";
const ATTRIBUTES_FINALIZER = "kubernetes.io/vac-protection";
/** Pods by the claims they name. */
const BY_CLAIM = "claim";
/** Volumes and claims by the classes of attributes they name. */
const BY_ATTRIBUTES = "attributes-class";
/** The end of a user is seen by its event; this is only for a server that forgot to send one. */
const RECHECK_MS = 300_000;

export const claimProtectionController = defineController({
  name: "pvc-protection-controller",
  for: PersistentVolumeClaim,
  finalizer: CLAIM_FINALIZER,
  indexes: [indexing(Pod, BY_CLAIM, claimsOf)],
  watches: [
    watching(Pod, function* ({ before, after }) {
      // Only a pod that is gone, or as good as gone, lets go of anything.
      const isSame = before?.metadata.uid === after?.metadata.uid;
      if (before === undefined || (after !== undefined && isSame && !isShutDown(after))) return;
      for (const key of claimsOf(before)) {
        const [namespace, name = ""] = key.split("/");
        yield { namespace, name };
      }
    }),
  ],
  reconcile: () => Promise.resolve(),
  finalize: (claim, { cache }) => {
    const { namespace = "", name } = claim.metadata;
    const pods = cache(Pod).indexed(BY_CLAIM, `${namespace}/${name}`);
    const isUsed = pods.some((pod) => isUsing(pod, claim));
    return Promise.resolve(isUsed ? { recheckAfterMs: RECHECK_MS, timer: "periodic" } : undefined);
  },
});

export const volumeProtectionController = defineController({
  name: "pv-protection-controller",
  for: PersistentVolume,
  finalizer: VOLUME_FINALIZER,
  reconcile: () => Promise.resolve(),
  finalize: ({ status }) =>
    Promise.resolve(status.phase === "Bound" ? { recheckAfterMs: RECHECK_MS, timer: "periodic" } : undefined),
});

export const attributesProtectionController = defineController({
  name: "volumeattributesclass-protection-controller",
  for: VolumeAttributesClass,
  finalizer: ATTRIBUTES_FINALIZER,
  indexes: [
    indexing(PersistentVolume, BY_ATTRIBUTES, attributesOfVolume),
    indexing(PersistentVolumeClaim, BY_ATTRIBUTES, attributesOfClaim),
  ],
  watches: [
    watching(PersistentVolume, (change) => givenUp(change, attributesOfVolume)),
    watching(PersistentVolumeClaim, (change) => givenUp(change, attributesOfClaim)),
  ],
  reconcile: () => Promise.resolve(),
  finalize: ({ metadata: { name } }, { cache }) => {
    const isUsed = [PersistentVolume, PersistentVolumeClaim].some(
      (type: ResourceType) => cache(type).indexed(BY_ATTRIBUTES, name).length > 0,
    );
    return Promise.resolve(isUsed ? { recheckAfterMs: RECHECK_MS, timer: "periodic" } : undefined);
  },
});

function attributesOfVolume({ spec }: PersistentVolume): readonly string[] {
  return [spec.volumeAttributesClassName ?? ""].filter((name) => name !== "");
}

/** What it asks for, what it has, and what it is about to get. */
function attributesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as readonly string[];
}

/** The classes that a user no longer names. */
function givenUp<T extends ApiObject>(
  { before, after }: ObjectChange<T>,
  namesOf: (user: T) => readonly string[],
): readonly ObjectKey[] {
  const left = new Set(after === undefined ? [] : namesOf(after));
  const names = before === undefined ? [] : namesOf(before);
  return names.filter((name) => !left.has(name)).map((name) => ({ name }));
}

/**
 * A pod that has ended may still be looked at, and its claim with it. One without a node does not count: no node starts a pod whose claim is
 * going. A claim that a pod brought along goes with it, so that neither waits for the other.
 */
function isUsing(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (pod.spec.nodeName === undefined) return false;
  const { name } = claim.metadata;
  return (pod.spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === name;
    return ephemeral !== undefined && isControlledBy(claim, pod) && !isShutDown(pod);
  });
}

/** Its node is done with it, or nobody waits for that. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** Claims that pods bring along (ephemeral volumes) are named after pod and volume. */
export function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const { namespace = "", name: podName } = metadata;
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${podName}-${name}`];
  });
}
