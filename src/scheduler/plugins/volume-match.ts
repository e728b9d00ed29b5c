/** Finds volumes that a claim can be bound to, and nodes for which a volume can be provisioned. */

import type { Node, PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { CSIStorageCapacity, StorageClass } from "../../api/generated/types/storage-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import { matchesNodeSelector } from "../../resources/pod/node-selection.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";
import { isClaimedBy } from "./pod-volume-claims.ts";

const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export function requestedBytes({ spec }: PersistentVolumeClaim): number {
  return wholeNumber(spec.resources.requests?.["storage"] ?? "0");
}

function capacityBytes({ spec }: PersistentVolume): number {
  return wholeNumber(spec.capacity?.["storage"] ?? "0");
}

/** Matching volumes on any node, smallest first. A volume reserved for the claim excludes all others. */
export function suitableVolumes(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): readonly PersistentVolume[] {
  const usable = volumes.filter((volume) => isUsable(volume, claim));
  const reserved = usable.filter((volume) => isClaimedBy(volume, claim));
  if (reserved.length > 0) return reserved;
  return usable
    .filter((volume) => isOffered(volume, claim))
    .toSorted((a, b) => capacityBytes(a) - capacityBytes(b));
}

function isUsable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec, metadata } = volume;
  if (metadata.deletionTimestamp !== undefined || !isOfSameSort(volume, claim)) return false;
  if (spec.claimRef !== undefined && !isClaimedBy(volume, claim)) return false;
  return capacityBytes(volume) >= requestedBytes(claim);
}

/** Conditions that do not apply to a reserved volume. */
function isOffered(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if ((volume.status.phase ?? "Available") !== "Available") return false;
  const { accessModes = [], selector } = claim.spec;
  if (!accessModes.every((mode) => volume.spec.accessModes?.includes(mode) ?? false)) return false;
  return selector === undefined || labelsMatch(compileLabelSelector(selector), volume.metadata.labels);
}

/** Fields that must be equal, with their defaults. */
const SAME_FIELDS = [
  ["volumeAttributesClassName", ""],
  ["volumeMode", "Filesystem"],
] as const;

function isOfSameSort(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (storageClassOf(volume) !== storageClassOf(claim)) return false;
  return SAME_FIELDS.every(
    ([field, absent]) => (volume.spec[field] ?? absent) === (claim.spec[field] ?? absent),
  );
}

/** A volume without node affinity is reachable from every node. */
export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || matchesNodeSelector(required, node);
}

/** The class has a provisioner and allows this node. */
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

/** Some storage that the node can reach has enough capacity. */
export function hasCapacity(
  capacities: readonly CSIStorageCapacity[],
  claim: PersistentVolumeClaim,
  node: Node,
): boolean {
  const bytes = requestedBytes(claim);
  return capacities.some(({ storageClassName, capacity, maximumVolumeSize, nodeTopology }) => {
    if (storageClassName !== storageClassOf(claim) || nodeTopology === undefined) return false;
    const room = maximumVolumeSize ?? capacity;
    if (room === undefined || wholeNumber(room) < bytes) return false;
    return labelsMatch(compileLabelSelector(nodeTopology), node.metadata.labels);
  });
}
