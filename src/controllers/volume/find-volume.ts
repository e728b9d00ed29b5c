/** Finds the volume for a claim. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { cachedLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import { compareQuantities, parseQuantity } from "../../api/values/quantity.ts";
import type { Quantity } from "../../api/values/quantity.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";

/**
 * A volume whose claimRef names the claim wins, regardless of class and labels: a user chose it. Otherwise the volume with the fewest
 * access modes wins, then the smallest one.
 */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  // Bound volumes, usually the most, are filtered out before the expensive checks.
  const open = volumes.filter((volume) => volume.spec.claimRef === undefined || hasClaimRefTo(volume, claim));
  const able = open.filter((volume) => findFault(volume, claim, FAULTS_OF_CHOSEN) === undefined);
  const named = able.find((volume) => hasClaimRefTo(volume, claim));
  if (named !== undefined) return named;
  const free = able.filter((volume) => volume.spec.claimRef === undefined && isWanted(volume, claim));
  return free.toSorted(
    (left, right) =>
      modesOf(left).size - modesOf(right).size ||
      compareQuantities(capacityOf(left), capacityOf(right)) ||
      (left.metadata.name < right.metadata.name ? -1 : 1),
  )[0];
}

/** Reason, in upstream's words, why a claim cannot have the volume it names. Labels do not matter: the claim names the volume. */
export function findMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  return findFault(volume, claim, FAULTS);
}

/** The volume's claimRef names this claim, by uid or, without a uid, by name. */
export function hasClaimRefTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec;
  if (claimRef?.namespace !== metadata.namespace || claimRef?.name !== metadata.name) return false;
  return (claimRef?.uid ?? "") === "" || claimRef?.uid === metadata.uid;
}

export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  return spec.claimRef?.uid === metadata.uid;
}

interface Fault {
  readonly text: (volume: PersistentVolume) => string;
  readonly isThere: (volume: PersistentVolume, claim: PersistentVolumeClaim) => boolean;
}

const CLASS_FAULT: Fault = {
  text: () => "storageClassName does not match",
  isThere: (volume, claim) => storageClassOf(volume) !== storageClassOf(claim),
};

/** Checks in upstream's order. */
const FAULTS: readonly Fault[] = [
  {
    text: ({ metadata }) => `the volume is marked for deletion ${JSON.stringify(metadata.name)}`,
    isThere: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  },
  {
    text: () => "requested PV is too small",
    isThere: (volume, { spec }) => {
      const asked = parseQuantity(spec.resources.requests?.["storage"] ?? "0");
      return compareQuantities(capacityOf(volume), asked) < 0;
    },
  },
  CLASS_FAULT,
  {
    text: () => "volumeAttributesClassName does not match",
    isThere: ({ spec }, claim) =>
      (spec.volumeAttributesClassName ?? "") !== (claim.spec.volumeAttributesClassName ?? ""),
  },
  {
    text: () => "incompatible volumeMode",
    isThere: ({ spec }, claim) =>
      (spec.volumeMode ?? "Filesystem") !== (claim.spec.volumeMode ?? "Filesystem"),
  },
  {
    text: () => "incompatible accessMode",
    isThere: (volume, { spec }) => !(spec.accessModes ?? []).every((mode) => modesOf(volume).has(mode)),
  },
];

/** A volume that names the claim needs no matching class. */
const FAULTS_OF_CHOSEN = FAULTS.filter((fault) => fault !== CLASS_FAULT);

function findFault(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  faults: readonly Fault[],
): string | undefined {
  return faults.find(({ isThere }) => isThere(volume, claim))?.text(volume);
}

function isWanted(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { selector } = claim.spec;
  if (CLASS_FAULT.isThere(volume, claim)) return false;
  return selector === undefined || labelsMatch(cachedLabelSelector(selector), volume.metadata.labels);
}

function modesOf({ spec }: PersistentVolume): ReadonlySet<string> {
  return new Set(spec.accessModes);
}

function capacityOf({ spec }: PersistentVolume): Quantity {
  return parseQuantity(spec.capacity?.["storage"] ?? "0");
}
