/**
 * Says in the status of each PersistentVolume whether it is free, taken or left behind, and removes those that nobody needs any more.
 *
 * Reads PersistentVolumes and PersistentVolumeClaims; writes PersistentVolume status, and frees volumes whose claim has taken another; deletes
 * volumes that our own provisioner made and that are to be deleted with their claim.
 */
import { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeStatus } from "../../api/generated/types/core-v1.ts";
import { formatTime } from "../../api/time.ts";
import { defineController, watching } from "../../runtime/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { BOUND_BY_CONTROLLER, HOST_PATH_PROVISIONER, PROVISIONED_BY } from "./annotations.ts";

export const volumeController = defineController({
  name: "persistentvolume-phase-controller",
  for: PersistentVolume,
  watches: [
    watching(PersistentVolumeClaim, function* ({ before, after }, cache) {
      const { volumeName } = (after ?? before)?.spec ?? {};
      const uid = (after ?? before)?.metadata.uid;
      if (volumeName !== undefined) yield { name: volumeName };
      // A claim that is gone before it knew its volume has left one behind.
      if (after !== undefined) return;
      for (const { metadata, spec } of cache(PersistentVolume).list()) {
        if (spec.claimRef?.uid === uid) yield { name: metadata.name };
      }
    }),
  ],
  reconcile,
});

type Phase = NonNullable<PersistentVolumeStatus["phase"]>;

async function reconcile(volume: PersistentVolume, context: ReconcileContext): Promise<Outcome> {
  const { phase, isLoose } = planVolume(volume, context.cache);
  const isToGo = phase === "Released" && volume.spec.persistentVolumeReclaimPolicy === "Delete";
  const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === HOST_PATH_PROVISIONER;
  if (isToGo && isOurs && volume.metadata.deletionTimestamp === undefined) {
    await context.client(PersistentVolume).delete(volume);
  }
  const newest = isLoose === true ? await context.client(PersistentVolume).update(loosened(volume)) : volume;
  await context.updateStatus(newest, statusOf(newest, phase, context.clock.now()));
}

interface VolumePlan {
  readonly phase: Phase;
  /** The claim has taken another volume: this one no longer belongs to it. */
  readonly isLoose?: boolean;
}

function planVolume(volume: PersistentVolume, cache: CacheReader): VolumePlan {
  const { claimRef } = volume.spec;
  // A volume that only names its claim waits for it.
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return { phase: "Available" };
  const { namespace, name = "", uid } = claimRef;
  const claim = cache(PersistentVolumeClaim).find({ namespace, name });
  return claim === undefined || claim.metadata.uid !== uid ? released(volume) : planTaken(volume, claim);
}

function planTaken(volume: PersistentVolume, { spec }: PersistentVolumeClaim): VolumePlan {
  const { volumeName = "" } = spec;
  if (volumeName === volume.metadata.name) return { phase: "Bound" };
  // Whether it suits the claim is found out by the other loop.
  if (volumeName === "") return { phase: volume.status.phase ?? "Pending" };
  const isMade = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  const isUseless = isMade && volume.spec.persistentVolumeReclaimPolicy === "Delete";
  return isUseless ? released(volume) : { phase: "Available", isLoose: true };
}

/** Whoever could not remove a volume has said so: it is not hidden that something went wrong. */
function released({ status }: PersistentVolume): VolumePlan {
  return { phase: status.phase === "Failed" ? "Failed" : "Released" };
}

/** What a loop has written goes as a whole; a claim that somebody else named is still waited for. */
function loosened({ metadata, spec, ...others }: PersistentVolume): PersistentVolume {
  const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = metadata.annotations ?? {};
  const { claimRef: { uid: _uid, resourceVersion: _version, ...named } = {}, ...free } = spec;
  return {
    ...others,
    metadata: { ...metadata, annotations },
    spec: byController === undefined ? { ...free, claimRef: named } : free,
  };
}

function statusOf({ status }: PersistentVolume, phase: Phase, now: number): PersistentVolumeStatus {
  if (status.phase === phase) return status;
  return { phase, lastPhaseTransitionTime: formatTime(BigInt(now) * 1000n) };
}
