/**
 * Says in the status of each PersistentVolume whether it is free, taken or left behind, and removes those that nobody needs any more.
 *
 * Reads PersistentVolumes and PersistentVolumeClaims; writes PersistentVolume status; deletes volumes that our own provisioner made and that are
 * to be deleted with their claim.
 */
import { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeStatus } from "../../api/generated/types/core-v1.ts";
import { formatTime } from "../../api/time.ts";
import { defineController, watching } from "../../runtime/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { HOST_PATH_PROVISIONER, PROVISIONED_BY } from "./annotations.ts";

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
  const phase = phaseOf(volume, context.cache);
  const isToGo = phase === "Released" && volume.spec.persistentVolumeReclaimPolicy === "Delete";
  const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === HOST_PATH_PROVISIONER;
  if (isToGo && isOurs && volume.metadata.deletionTimestamp === undefined) {
    await context.client(PersistentVolume).delete(volume);
  }
  await context.updateStatus(volume, statusOf(volume, phase, context.clock.now()));
}

function phaseOf({ metadata, spec }: PersistentVolume, cache: CacheReader): Phase {
  const { claimRef } = spec;
  // A volume that only names its claim waits for it.
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return "Available";
  const claim = cache(PersistentVolumeClaim).find({
    namespace: claimRef.namespace,
    name: claimRef.name ?? "",
  });
  if (claim === undefined || claim.metadata.uid !== claimRef.uid) return "Released";
  const { volumeName = "" } = claim.spec;
  return volumeName === metadata.name || volumeName === "" ? "Bound" : "Released";
}

function statusOf({ status }: PersistentVolume, phase: Phase, now: number): PersistentVolumeStatus {
  if (status.phase === phase) return status;
  return { phase, lastPhaseTransitionTime: formatTime(BigInt(now) * 1000n) };
}
