/** Which volume suits a claim. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/label-selector.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { Quantity } from "../../api/quantity.ts";

/** A volume that names the claim goes before all others; of the rest, the smallest that is large enough. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const fitting = volumes.filter((volume) => isUsable(volume) && fits(volume, claim));
  const named = fitting.find((volume) => isMeantFor(volume, claim));
  if (named !== undefined) return named;
  const free = fitting.filter(({ spec }) => spec.claimRef === undefined);
  return free.toSorted(
    (left, right) =>
      compareQuantities(capacityOf(left), capacityOf(right)) ||
      (left.metadata.name < right.metadata.name ? -1 : 1),
  )[0];
}

/** The volume's own reference names this claim: by its uid, or by its name for whichever claim comes. */
export function isMeantFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec;
  if (claimRef?.namespace !== metadata.namespace || claimRef?.name !== metadata.name) return false;
  return (claimRef?.uid ?? "") === "" || claimRef?.uid === metadata.uid;
}

export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  return spec.claimRef?.uid === metadata.uid;
}

function isUsable({ metadata }: PersistentVolume): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Everything but who else wants it. */
function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes = new Set(volume.spec.accessModes);
  const { accessModes = [], resources, selector } = claim.spec;
  const asked = parseQuantity(resources.requests?.["storage"] ?? "0");
  return (
    isOfSameMake(volume, claim) &&
    accessModes.every((mode) => modes.has(mode)) &&
    compareQuantities(capacityOf(volume), asked) >= 0 &&
    (selector === undefined || labelsMatch(compileLabelSelector(selector), volume.metadata.labels))
  );
}

function isOfSameMake(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const make = ({
    storageClassName = "",
    volumeMode = "Filesystem",
    volumeAttributesClassName = "",
  }: Make): string => [storageClassName, volumeMode, volumeAttributesClassName].join("/");
  return make(volume.spec) === make(claim.spec);
}

type Make = Pick<
  PersistentVolume["spec"] | PersistentVolumeClaim["spec"],
  "storageClassName" | "volumeMode" | "volumeAttributesClassName"
>;

function capacityOf({ spec }: PersistentVolume): Quantity {
  return parseQuantity(spec.capacity?.["storage"] ?? "0");
}
