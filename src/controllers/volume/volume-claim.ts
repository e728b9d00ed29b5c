/**
 * Binds each PersistentVolumeClaim to a matching volume, or requests one from a provisioner.
 *
 * Reads PersistentVolumeClaims, PersistentVolumes, StorageClasses and unscheduled Pods. Writes the claim's volume name, annotations and
 * status, and the volume's claimRef. The volume is written first: a claim never names a volume that another claim may still take.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { PersistentVolumeClaimStatus } from "../../api/generated/types/core-v1.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { findCondition, isTerminal } from "../../resources/pod/pod-state.ts";
import { hasStorageClass, storageClassOf } from "../../resources/storage/claim-class.ts";
import { findDefaultStorageClass } from "../../resources/storage/default-class.ts";
import { candidateValues, volumeCandidates } from "../../resources/storage/volume-candidates.ts";
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
import { findMismatch, findVolume, isBoundTo, hasClaimRefTo } from "./find-volume.ts";
import { claimsOf } from "./protection.ts";

/** Index of unscheduled pods by the claims they name. */
const BY_CLAIM = "claim-of-waiting-pod";
/** Index of claims by the volume they name. */
const BY_VOLUME = "volume-of-claim";
const NO_VOLUME = "";
/** Index of volumes by `candidateValues`. */
const CANDIDATES = "volume-candidates";

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
      // Most pods are scheduled at once and need no reconcile of their claims.
      if (after === undefined || findCondition(after, "PodScheduled")?.status !== "False") return;
      for (const key of claimsOfWaiting(after)) {
        const [namespace, name = ""] = key.split("/");
        yield { namespace, name };
      }
    }),
  ],
  indexes: [
    indexing(Pod, BY_CLAIM, claimsOfWaiting),
    indexing(PersistentVolumeClaim, BY_VOLUME, ({ spec }) => [spec.volumeName ?? NO_VOLUME]),
    indexing(PersistentVolume, CANDIDATES, candidateValues),
  ],
  reconcile,
});

/** A free volume may suit any claim without a volume name, and claims with its name. */
function* waitingClaims(cache: CacheReader, volume = NO_VOLUME) {
  for (const name of new Set([NO_VOLUME, volume]))
    for (const { metadata } of cache(PersistentVolumeClaim).indexed(BY_VOLUME, name))
      yield { namespace: metadata.namespace, name: metadata.name };
}

function claimsOfWaiting(pod: Pod): readonly string[] {
  return (pod.spec.nodeName ?? "") === "" && !isTerminal(pod) ? claimsOf(pod) : [];
}

async function reconcile(claim: PersistentVolumeClaim, context: ReconcileContext): Promise<Outcome> {
  const plan = planClaim(claim, context.cache);
  if (plan.event !== undefined) context.event(claim, plan.event);
  const volume = plan.volume === undefined ? undefined : await bindVolume(plan.volume, claim, context);
  const changed = plan.changes === undefined ? claim : await writeChanges(claim, plan.changes, context);
  await context.updateStatus(changed, statusOf(changed, plan.phase, volume));
}

interface ClaimChanges {
  readonly volumeName?: string;
  readonly storageClassName?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Actions for a claim; all rules are here. */
interface ClaimPlan {
  readonly phase: "Pending" | "Bound" | "Lost";
  /** Volume to bind to the claim, unless it already is. */
  readonly volume?: PersistentVolume | undefined;
  /** Changes of the claim's spec and annotations. */
  readonly changes?: ClaimChanges;
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
  const candidates = volumeCandidates(claim, (value) => cache(PersistentVolume).indexed(CANDIDATES, value));
  const volume = findVolume(claim, candidates);
  const storageClass = cache(StorageClass).find({ name: storageClassOf(claim) });
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const isPreBound = volume?.spec.claimRef !== undefined;
  if (volume !== undefined && (isPreBound || !waits)) return binding(claim, volume);
  // A class that became the default after the claim's creation applies too.
  const late = hasStorageClass(claim) ? undefined : findDefaultStorageClass(cache(StorageClass).list());
  if (late !== undefined) return { phase: "Pending", changes: { storageClassName: late } };
  if (waits && claim.metadata.annotations?.[SELECTED_NODE] === undefined) {
    return { phase: "Pending", event: describeWait(claim, cache) };
  }
  return planProvisioning(claim, storageClass);
}

function describeWait({ metadata }: PersistentVolumeClaim, cache: CacheReader): RecordedEvent {
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
  if (isBoundTo(volume, claim) || hasClaimRefTo(volume, claim)) return binding(claim, volume);
  if (volume.spec.claimRef === undefined) return isDone ? binding(claim, volume) : planFirst(claim, volume);
  if (!isDone) {
    const message = `volume ${JSON.stringify(volume.metadata.name)} already bound to a different claim.`;
    return { phase: "Pending", event: { type: "Warning", reason: "FailedBinding", message } };
  }
  const message = "Two claims are bound to the same volume, this one is bound incorrectly";
  return lost(claim, "ClaimMisbound", message);
}

/** A claim that names a volume gets it only if they match. */
function planFirst(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const mismatch = findMismatch(volume, claim);
  if (mismatch === undefined) return binding(claim, volume);
  const message = `Cannot bind to requested volume ${JSON.stringify(volume.metadata.name)}: ${mismatch}`;
  return { phase: "Pending", event: { type: "Warning", reason: "VolumeMismatch", message } };
}

/** Records the Event once, at the transition. */
function lost({ status }: PersistentVolumeClaim, reason: string, message: string): ClaimPlan {
  if (status.phase === "Lost") return { phase: "Lost" };
  return { phase: "Lost", event: { type: "Warning", reason, message } };
}

function binding({ metadata, spec }: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const isNamed = spec.volumeName === volume.metadata.name;
  const isComplete = isNamed && metadata.annotations?.[BIND_COMPLETED] !== undefined;
  const annotations = { [BIND_COMPLETED]: "yes", ...(!isNamed && { [BOUND_BY_CONTROLLER]: "yes" }) };
  const volumeName = volume.metadata.name;
  return { phase: "Bound", volume, ...(!isComplete && { changes: { volumeName, annotations } }) };
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
      changes: {
        annotations: { [OLD_STORAGE_PROVISIONER]: provisioner, [STORAGE_PROVISIONER]: provisioner },
      },
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

async function writeChanges(
  claim: PersistentVolumeClaim,
  { annotations, ...spec }: ClaimChanges,
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
  // The resizer updates the capacity at the end of a resize; until then the shown one stays.
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
