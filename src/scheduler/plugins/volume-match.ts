/** Which volumes a claim could be bound to, and which nodes could get a new one made for it. */

import type { Node, PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { CSIStorageCapacity, StorageClass } from "../../api/generated/types/storage-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/label-selector.ts";
import { matchesNodeSelector } from "../../resources/pod/node-selection.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import { ownValue } from "../../resources/value-rules.ts";
import { isClaimedBy } from "./pod-claims.ts";

const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export function requestedBytes({ spec }: PersistentVolumeClaim): number {
  return wholeNumber(spec.resources.requests?.["storage"] ?? "0");
}

function capacityBytes({ spec }: PersistentVolume): number {
  return wholeNumber(spec.capacity?.["storage"] ?? "0");
}

/** Volumes that suit the claim wherever they are: those set aside for it first, then the smallest that is large enough. */
export function suitableVolumes(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): readonly PersistentVolume[] {
  const rank = (volume: PersistentVolume): number => (isClaimedBy(volume, claim) ? 0 : 1);
  return volumes
    .filter((volume) => isSuitable(volume, claim))
    .toSorted((a, b) => rank(a) - rank(b) || capacityBytes(a) - capacityBytes(b));
}

function isSuitable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (!isFree(volume, claim) || !isOfSameClass(volume, claim)) return false;
  const { accessModes = [], selector } = claim.spec;
  if (!accessModes.every((mode) => volume.spec.accessModes?.includes(mode) ?? false)) return false;
  if (capacityBytes(volume) < requestedBytes(claim)) return false;
  return selector === undefined || labelsMatch(compileLabelSelector(selector), volume.metadata.labels);
}

function isFree(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec, metadata, status } = volume;
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.claimRef !== undefined) return isClaimedBy(volume, claim);
  return (status.phase ?? "Available") === "Available";
}

/** Fields that must be equal, with what their absence means. */
const CLASS_FIELDS = [
  ["storageClassName", ""],
  ["volumeMode", "Filesystem"],
  ["volumeAttributesClassName", ""],
] as const;

function isOfSameClass({ spec }: PersistentVolume, { spec: wanted }: PersistentVolumeClaim): boolean {
  return CLASS_FIELDS.every(([field, absent]) => (spec[field] ?? absent) === (wanted[field] ?? absent));
}

/** A volume without affinity can be reached from everywhere. */
export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || matchesNodeSelector(required, node);
}

/** Whether somebody makes volumes of the class, and for this node. */
export function isProvisionable({ provisioner, allowedTopologies = [] }: StorageClass, node: Node): boolean {
  if (provisioner === "" || provisioner === NO_PROVISIONER) return false;
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => {
      const value = ownValue(node.metadata.labels, key);
      return value !== undefined && values.includes(value);
    }),
  );
}

/** Whether some storage that the node reaches has room for the claim. */
export function hasCapacity(
  capacities: readonly CSIStorageCapacity[],
  claim: PersistentVolumeClaim,
  node: Node,
): boolean {
  const bytes = requestedBytes(claim);
  return capacities.some(({ storageClassName, capacity, maximumVolumeSize, nodeTopology }) => {
    if (storageClassName !== claim.spec.storageClassName || nodeTopology === undefined) return false;
    const room = maximumVolumeSize ?? capacity;
    if (room === undefined || wholeNumber(room) < bytes) return false;
    return labelsMatch(compileLabelSelector(nodeTopology), node.metadata.labels);
  });
}
