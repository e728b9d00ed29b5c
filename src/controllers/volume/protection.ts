/**
 * Protects claims used by pods, bound volumes and VolumeAttributesClasses in use from deletion.
 *
 * Three controllers: for PersistentVolumeClaims, PersistentVolumes and VolumeAttributesClasses. Each adds a finalizer to every object and
 * removes it once a deleted object is unused.
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
/** Index of pods by the claims they name. */
const BY_CLAIM = "claim";
/** Index of volumes and claims by their VolumeAttributesClass. */
const BY_ATTRIBUTES = "attributes-class";
/** Safety net: the events of users normally trigger a reconcile. */
const RECHECK_MS = 300_000;

export const claimProtectionController = defineController({
  name: "pvc-protection-controller",
  for: PersistentVolumeClaim,
  finalizer: CLAIM_FINALIZER,
  indexes: [indexing(Pod, BY_CLAIM, claimsOf)],
  watches: [
    watching(Pod, function* ({ before, after }) {
      // A pod releases its claims only once it is gone or shut down.
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
    watching(PersistentVolume, (change) => droppedClasses(change, attributesOfVolume)),
    watching(PersistentVolumeClaim, (change) => droppedClasses(change, attributesOfClaim)),
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

/** The requested, the current and the targeted class. */
function attributesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as readonly string[];
}

/** Classes that the object no longer names. */
function droppedClasses<T extends ApiObject>(
  { before, after }: ObjectChange<T>,
  namesOf: (user: T) => readonly string[],
): readonly ObjectKey[] {
  const left = new Set(after === undefined ? [] : namesOf(after));
  const names = before === undefined ? [] : namesOf(before);
  return names.filter((name) => !left.has(name)).map((name) => ({ name }));
}

/**
 * An ended pod still uses its claim: users may inspect both. An unbound pod does not: no node starts a pod whose claim is being deleted. An
 * ephemeral volume's claim is deleted with its pod, so that neither waits for the other.
 */
function isUsing(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (pod.spec.nodeName === undefined) return false;
  const { name } = claim.metadata;
  return (pod.spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === name;
    return ephemeral !== undefined && isControlledBy(claim, pod) && !isShutDown(pod);
  });
}

/** The pod is being deleted with grace period 0: its node has finished, or the deletion was forced. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** Claims of ephemeral volumes are named after pod and volume. */
export function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const { namespace = "", name: podName } = metadata;
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${podName}-${name}`];
  });
}
