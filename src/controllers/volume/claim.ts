/**
 * Gives each PersistentVolumeClaim a volume that suits it, or asks a provisioner for one, and says in the claim's status how it stands.
 *
 * Reads PersistentVolumeClaims, PersistentVolumes, StorageClasses and Pods that wait for a node; writes the claim's volume name, notes and status, and the reference by which a
 * volume belongs to its claim. The volume is written first: a claim never names a volume that somebody else may still take.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeClaimStatus } from "../../api/generated/types/core-v1.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { findCondition, isTerminal } from "../../resources/pod/pod-state.ts";
import { hasStorageClass, storageClassOf } from "../../resources/storage/claim-class.ts";
import { findDefaultStorageClass } from "../../resources/storage/default-class.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  OLD_STORAGE_PROVISIONER,
  SELECTED_NODE,
  STORAGE_PROVISIONER,
} from "./annotations.ts";
import { findMismatch, findVolume, isBoundTo, isMeantFor } from "./match.ts";
import { claimsOf } from "./protection.ts";

/** Pods without a node, by the claims they name. */
const BY_CLAIM = "claim-of-waiting-pod";

export const claimController = defineController({
  name: "persistentvolume-controller",
  for: PersistentVolumeClaim,
  watches: [
    watching(PersistentVolume, function* ({ before, after }, cache) {
      const { claimRef } = (after ?? before)?.spec ?? {};
      const { name } = (after ?? before)?.metadata ?? {};
      if (claimRef !== undefined) yield { namespace: claimRef.namespace, name: claimRef.name ?? "" };
      else yield* waitingClaims(cache, name);
    }),
    watching(StorageClass, (_, cache) => waitingClaims(cache)),
    watching(Pod, function* ({ after }) {
      // Most find their node at once, and nobody has to be told.
      if (after === undefined || findCondition(after, "PodScheduled")?.status !== "False") return;
      for (const key of claimsOfWaiting(after)) {
        const [namespace, name = ""] = key.split("/");
        yield { namespace, name };
      }
    }),
  ],
  indexes: [indexing(Pod, BY_CLAIM, claimsOfWaiting)],
  reconcile,
});

/** A volume that nobody has may be what any of them waits for; whoever names one waits for that. */
function* waitingClaims(cache: CacheReader, volume = "") {
  for (const { metadata, spec } of cache(PersistentVolumeClaim).list()) {
    const { volumeName = "" } = spec;
    if (volumeName === "" || volumeName === volume)
      yield { namespace: metadata.namespace, name: metadata.name };
  }
}

function claimsOfWaiting(pod: Pod): readonly string[] {
  return (pod.spec.nodeName ?? "") === "" && !isTerminal(pod) ? claimsOf(pod) : [];
}

async function reconcile(claim: PersistentVolumeClaim, context: ReconcileContext): Promise<Outcome> {
  const plan = planClaim(claim, context.cache);
  if (plan.event !== undefined) context.event(claim, plan.event);
  const volume = plan.volume === undefined ? undefined : await bindVolume(plan.volume, claim, context);
  const noted = plan.notes === undefined ? claim : await note(claim, plan.notes, context);
  await context.updateStatus(noted, statusOf(noted, plan.phase, volume));
}

interface Notes {
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What is to be done for a claim; every rule is in here. */
interface ClaimPlan {
  readonly phase: "Pending" | "Bound" | "Lost";
  /** To belong to the claim from now on, if it does not yet. */
  readonly volume?: PersistentVolume | undefined;
  /** To be written to the claim. */
  readonly notes?: Notes;
  readonly event?: RecordedEvent;
}

function planClaim(claim: PersistentVolumeClaim, cache: CacheReader): ClaimPlan {
  const isDone = claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
  const { volumeName = "" } = claim.spec;
  if (volumeName !== "") return planNamed(claim, cache(PersistentVolume).find({ name: volumeName }), isDone);
  if (claim.metadata.deletionTimestamp !== undefined) return { phase: "Pending" };
  return planUnnamed(claim, cache);
}

function planUnnamed(claim: PersistentVolumeClaim, cache: CacheReader): ClaimPlan {
  const volume = findVolume(claim, cache(PersistentVolume).list());
  const storageClass = cache(StorageClass).find({ name: storageClassOf(claim) });
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const isPreBound = volume?.spec.claimRef !== undefined;
  if (volume !== undefined && (isPreBound || !waits)) return binding(claim, volume);
  // A class that became the default after the claim was made is its class, too.
  const late = hasStorageClass(claim) ? undefined : findDefaultStorageClass(cache(StorageClass).list());
  if (late !== undefined) return { phase: "Pending", notes: { storageClassName: late } };
  if (waits && claim.metadata.annotations?.[SELECTED_NODE] === undefined) {
    return { phase: "Pending", event: whatIsAwaited(claim, cache) };
  }
  return planProvisioning(claim, storageClass);
}

function whatIsAwaited({ metadata }: PersistentVolumeClaim, cache: CacheReader): RecordedEvent {
  const users = cache(Pod).indexed(BY_CLAIM, `${metadata.namespace ?? ""}/${metadata.name}`);
  const names = users.map(({ metadata: { name } }) => name);
  if (names.length === 0) {
    const message = "waiting for first consumer to be created before binding";
    return { type: "Normal", reason: "WaitForFirstConsumer", message };
  }
  const message = `waiting for pod${names.length > 1 ? "s" : ""} ${names.join(",")} to be scheduled`;
  return { type: "Normal", reason: "WaitForPodScheduled", message };
}

function planNamed(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  isDone: boolean,
): ClaimPlan {
  if (volume === undefined) {
    if (!isDone) return { phase: "Pending" };
    const message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
    return lost(claim, "ClaimLost", message);
  }
  if (isBoundTo(volume, claim) || isMeantFor(volume, claim)) return binding(claim, volume);
  if (volume.spec.claimRef === undefined) return isDone ? binding(claim, volume) : planFirst(claim, volume);
  if (!isDone) {
    const message = `volume ${JSON.stringify(volume.metadata.name)} already bound to a different claim.`;
    return { phase: "Pending", event: { type: "Warning", reason: "FailedBinding", message } };
  }
  const message = "Two claims are bound to the same volume, this one is bound incorrectly";
  return lost(claim, "ClaimMisbound", message);
}

/** Naming a volume is not enough to get it. */
function planFirst(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const mismatch = findMismatch(volume, claim);
  if (mismatch === undefined) return binding(claim, volume);
  const message = `Cannot bind to requested volume ${JSON.stringify(volume.metadata.name)}: ${mismatch}`;
  return { phase: "Pending", event: { type: "Warning", reason: "VolumeMismatch", message } };
}

/** Told once, when it happens. */
function lost({ status }: PersistentVolumeClaim, reason: string, message: string): ClaimPlan {
  if (status.phase === "Lost") return { phase: "Lost" };
  return { phase: "Lost", event: { type: "Warning", reason, message } };
}

function binding({ metadata, spec }: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const isNamed = spec.volumeName === volume.metadata.name;
  const isComplete = isNamed && metadata.annotations?.[BIND_COMPLETED] !== undefined;
  const annotations = { [BIND_COMPLETED]: "yes", ...(!isNamed && { [BOUND_BY_CONTROLLER]: "yes" }) };
  const volumeName = volume.metadata.name;
  return { phase: "Bound", volume, ...(!isComplete && { notes: { volumeName, annotations } }) };
}

function planProvisioning(claim: PersistentVolumeClaim, storageClass: StorageClass | undefined): ClaimPlan {
  const storageClassName = storageClassOf(claim);
  if (storageClassName === "") {
    const message = "no persistent volumes available for this claim and no storage class is set";
    return { phase: "Pending", event: { type: "Normal", reason: "FailedBinding", message } };
  }
  if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io ${JSON.stringify(storageClassName)} not found`;
    return { phase: "Pending", event: { type: "Warning", reason: "ProvisioningFailed", message } };
  }
  const { provisioner } = storageClass;
  if (provisioner === "kubernetes.io/no-provisioner") {
    const message = `no volume plugin matched name: ${provisioner}`;
    return { phase: "Pending", event: { type: "Warning", reason: "ProvisioningFailed", message } };
  }
  const isAsked = claim.metadata.annotations?.[STORAGE_PROVISIONER] === provisioner;
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
    "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
  return {
    phase: "Pending",
    event: { type: "Normal", reason: "ExternalProvisioning", message },
    ...(!isAsked && {
      notes: { annotations: { [OLD_STORAGE_PROVISIONER]: provisioner, [STORAGE_PROVISIONER]: provisioner } },
    }),
  };
}

async function bindVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  { client }: ReconcileContext,
): Promise<PersistentVolume> {
  if (isBoundTo(volume, claim)) return volume;
  const { namespace = "", name, uid, resourceVersion } = claim.metadata;
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion };
  const isOurs = volume.spec.claimRef === undefined;
  const annotations = { ...volume.metadata.annotations, ...(isOurs && { [BOUND_BY_CONTROLLER]: "yes" }) };
  return await client(PersistentVolume).update({
    ...volume,
    metadata: { ...volume.metadata, annotations },
    spec: { ...volume.spec, claimRef },
  });
}

async function note(
  claim: PersistentVolumeClaim,
  { annotations, ...spec }: Notes,
  { client }: ReconcileContext,
): Promise<PersistentVolumeClaim> {
  return await client(PersistentVolumeClaim).update({
    ...claim,
    metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, ...annotations } },
    spec: { ...claim.spec, ...spec },
  });
}

function statusOf(
  { status }: PersistentVolumeClaim,
  phase: ClaimPlan["phase"],
  volume: PersistentVolume | undefined,
): PersistentVolumeClaimStatus {
  const { accessModes: _modes, capacity: known, ...others } = status;
  if (phase !== "Bound" || volume === undefined) return { ...others, phase };
  const { accessModes, capacity, volumeAttributesClassName } = volume.spec;
  // A resize under way is somebody else's to finish: what was shown before stays until then.
  const shown = known ?? capacity;
  return {
    ...others,
    phase,
    ...(accessModes !== undefined && { accessModes }),
    ...(shown !== undefined && { capacity: shown }),
    ...(volumeAttributesClassName !== undefined && {
      currentVolumeAttributesClassName: volumeAttributesClassName,
    }),
  };
}
