/**
 * Keeps the phase of each PersistentVolume, and reclaims released volumes.
 *
 * Reads PersistentVolumes, PersistentVolumeClaims and recycler pods. Writes PersistentVolume status; frees volumes that were recycled or
 * whose claim took another one. Deletes volumes by their reclaim policy; creates and deletes recycler pods.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeStatus } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { BOUND_BY_CONTROLLER, PROVISIONED_BY } from "./annotations.ts";
import { planReclaim, RECYCLER_NAMESPACE, recycledVolume, recyclerFault, recyclerName } from "./reclaim.ts";

/** Index of volumes by the uid of their claim. */
const BY_CLAIM = "claim-of-volume";

export const volumeController = defineController({
  name: "persistentvolume-phase-controller",
  for: PersistentVolume,
  watches: [
    watching(PersistentVolumeClaim, function* ({ before, after }, cache) {
      const { volumeName } = (after ?? before)?.spec ?? {};
      const uid = (after ?? before)?.metadata.uid;
      if (volumeName !== undefined) yield { name: volumeName };
      // A claim deleted before its volumeName was written is found by its uid.
      if (after !== undefined) return;
      for (const { metadata } of cache(PersistentVolume).indexed(BY_CLAIM, uid ?? ""))
        yield { name: metadata.name };
    }),
    watching(Pod, function* ({ before, after }) {
      const pod = after ?? before;
      const name = pod === undefined ? undefined : recycledVolume(pod);
      if (pod === undefined || name === undefined) return;
      // This controller deletes ended recycler pods itself, so their deletion needs no reconcile.
      const isBeingDeleted = after === undefined || after.metadata.deletionTimestamp !== undefined;
      if (!isBeingDeleted || !isTerminal(pod)) yield { name };
    }),
  ],
  indexes: [indexing(PersistentVolume, BY_CLAIM, ({ spec }) => [spec.claimRef?.uid ?? ""])],
  reconcile,
});

type Phase = NonNullable<PersistentVolumeStatus["phase"]>;

/** Interval of retries to recycle a volume, as upstream's interval for all volumes. */
const RETRY_MS = 15_000;

async function reconcile(volume: PersistentVolume, context: ReconcileContext): Promise<Outcome> {
  const plan = planVolume(volume, context.cache);
  const isLeft = plan.phase === "Released" || plan.phase === "Failed";
  const { phase, isUnbound, message } = isLeft ? await reclaim(volume, plan, context) : plan;
  const newest = isUnbound === true ? await context.client(PersistentVolume).update(unbound(volume)) : volume;
  await context.updateStatus(newest, statusOf(newest, { phase, message }, context.clock.now()));
  const isToEmpty = isLeft && phase !== "Available" && planReclaim(volume).type === "recycle";
  return isToEmpty ? { recheckAfterMs: RETRY_MS, timer: "periodic" } : undefined;
}

async function reclaim(
  volume: PersistentVolume,
  plan: VolumePlan,
  { client, cache, event }: ReconcileContext,
): Promise<VolumePlan> {
  const todo = planReclaim(volume);
  const fail = (reason: string, message: string): VolumePlan => {
    // Records the Event once, as the reclaim is retried.
    if (volume.status.phase !== "Failed") event(volume, { type: "Warning", reason, message });
    return { phase: "Failed", message };
  };
  if (todo.type === "fail") return fail(todo.reason, todo.message);
  if (volume.metadata.deletionTimestamp !== undefined) return plan;
  if (todo.type === "delete") await client(PersistentVolume).delete(volume);
  if (todo.type !== "recycle") return plan;

  const pod = cache(Pod).find({ namespace: RECYCLER_NAMESPACE, name: recyclerName(volume) });
  const users = pod === undefined ? usersOf(volume, cache) : [];
  if (users.length > 0) {
    const message = `Volume is used by pods: ${users.join(",")}`;
    event(volume, { type: "Normal", reason: "VolumeFailedRecycle", message });
    return plan;
  }
  if (pod === undefined) await client(Pod).create(todo.pod);
  // The result of a pod that is being deleted was already handled.
  if (pod === undefined || !isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) return plan;
  await client(Pod).delete(pod);
  const fault = recyclerFault(pod);
  if (fault !== undefined) return fail("VolumeFailedRecycle", `Recycle failed: ${fault}`);
  event(volume, { type: "Normal", reason: "VolumeRecycled", message: "Volume recycled" });
  return { phase: "Available", isUnbound: true };
}

/** Unfinished pods that name the deleted claim. If a new claim has the name, the pods refer to that one. */
function usersOf({ spec: { claimRef } }: PersistentVolume, cache: CacheReader): readonly string[] {
  const { namespace = "", name = "" } = claimRef ?? {};
  if (cache(PersistentVolumeClaim).find({ namespace, name }) !== undefined) return [];
  return cache(Pod)
    .list({ namespace })
    .filter((pod) => !isTerminal(pod) && namesClaim(pod, name))
    .map((pod) => `${namespace}/${pod.metadata.name}`)
    .toSorted();
}

function namesClaim({ metadata, spec }: Pod, claim: string): boolean {
  return (spec.volumes ?? []).some(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return `${metadata.name}-${name}` === claim;
    return persistentVolumeClaim?.claimName === claim;
  });
}

interface VolumePlan {
  readonly phase: Phase;
  /** The claim took another volume: this volume's claimRef is removed. */
  readonly isUnbound?: boolean;
  readonly message?: string | undefined;
}

function planVolume(volume: PersistentVolume, cache: CacheReader): VolumePlan {
  const { claimRef } = volume.spec;
  // A claimRef without a uid waits for its claim.
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return { phase: "Available" };
  const { namespace, name = "", uid } = claimRef;
  const claim = cache(PersistentVolumeClaim).find({ namespace, name });
  return claim === undefined || claim.metadata.uid !== uid ? released(volume) : planTaken(volume, claim);
}

function planTaken(volume: PersistentVolume, { spec }: PersistentVolumeClaim): VolumePlan {
  const { volumeName = "" } = spec;
  if (volumeName === volume.metadata.name) return { phase: "Bound" };
  // The claim controller decides if the volume matches.
  if (volumeName === "") return { phase: volume.status.phase ?? "Pending" };
  const isMade = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  const isUseless = isMade && volume.spec.persistentVolumeReclaimPolicy === "Delete";
  return isUseless ? released(volume) : { phase: "Available", isUnbound: true };
}

/** A failed reclaim keeps its phase and message. */
function released({ status }: PersistentVolume): VolumePlan {
  return status.phase === "Failed" ? { phase: "Failed", message: status.message } : { phase: "Released" };
}

/** Removes a claimRef that a controller wrote. A claimRef that a user wrote only loses its uid and waits for the claim. */
function unbound({ metadata, spec, ...others }: PersistentVolume): PersistentVolume {
  const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = metadata.annotations ?? {};
  const { claimRef: { uid: _uid, resourceVersion: _version, ...named } = {}, ...free } = spec;
  return {
    ...others,
    metadata: { ...metadata, annotations },
    spec: byController === undefined ? { ...free, claimRef: named } : free,
  };
}

function statusOf(
  { status }: PersistentVolume,
  { phase, message }: VolumePlan,
  now: number,
): PersistentVolumeStatus {
  if (status.phase === phase) return status;
  return {
    phase,
    ...(message !== undefined && { message }),
    lastPhaseTransitionTime: timeText(now),
  };
}
