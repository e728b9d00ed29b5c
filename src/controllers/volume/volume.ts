/**
 * Says in the status of each PersistentVolume whether it is free, taken or left behind, and removes those that nobody needs any more.
 *
 * Reads PersistentVolumes, PersistentVolumeClaims and the pods that empty volumes; writes PersistentVolume status, and frees volumes whose claim has
 * taken another or which have been emptied; deletes volumes that are to be deleted with their claim, and creates and deletes pods that empty others.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeStatus } from "../../api/generated/types/core-v1.ts";
import { formatTime } from "../../api/values/time.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { BOUND_BY_CONTROLLER, PROVISIONED_BY } from "./annotations.ts";
import { planReclaim, RECYCLER_NAMESPACE, recycledVolume, recyclerFault, recyclerName } from "./reclaim.ts";

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
    watching(Pod, function* ({ before, after }) {
      const pod = after ?? before;
      const name = pod === undefined ? undefined : recycledVolume(pod);
      if (pod === undefined || name === undefined) return;
      // That one which has ended goes was seen to here: the next one has time.
      const isGoing = after === undefined || after.metadata.deletionTimestamp !== undefined;
      if (!isGoing || !isTerminal(pod)) yield { name };
    }),
  ],
  reconcile,
});

type Phase = NonNullable<PersistentVolumeStatus["phase"]>;

/** A volume that is to be emptied is looked at this often, as upstream does with all of them. */
const RETRY_MS = 15_000;

async function reconcile(volume: PersistentVolume, context: ReconcileContext): Promise<Outcome> {
  const plan = planVolume(volume, context.cache);
  const isLeft = plan.phase === "Released" || plan.phase === "Failed";
  const { phase, isLoose, message } = isLeft ? await reclaim(volume, plan, context) : plan;
  const newest = isLoose === true ? await context.client(PersistentVolume).update(loosened(volume)) : volume;
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
    // Once is enough: it is tried again and again.
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
  // What one has to say that is being deleted was heard before.
  if (pod === undefined || !isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) return plan;
  await client(Pod).delete(pod);
  const fault = recyclerFault(pod);
  if (fault !== undefined) return fail("VolumeFailedRecycle", `Recycle failed: ${fault}`);
  event(volume, { type: "Normal", reason: "VolumeRecycled", message: "Volume recycled" });
  return { phase: "Available", isLoose: true };
}

/** Pods that name the claim which has gone, and have not ended. Where there is another claim of its name, they mean that one. */
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
  /** The claim has taken another volume: this one no longer belongs to it. */
  readonly isLoose?: boolean;
  /** Why it failed. */
  readonly message?: string | undefined;
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
  return status.phase === "Failed" ? { phase: "Failed", message: status.message } : { phase: "Released" };
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

function statusOf(
  { status }: PersistentVolume,
  { phase, message }: VolumePlan,
  now: number,
): PersistentVolumeStatus {
  if (status.phase === phase) return status;
  return {
    phase,
    ...(message !== undefined && { message }),
    lastPhaseTransitionTime: formatTime(BigInt(now) * 1000n),
  };
}
