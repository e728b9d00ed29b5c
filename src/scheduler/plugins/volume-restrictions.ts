/** Separates pods that cannot share a volume: exclusive disks, and ReadWriteOncePod claims. */

import type { Volume } from "../../api/generated/types/core-v1.ts";
import { type PluginContext, type PluginFactory, reject } from "../framework/scheduler-plugin.ts";
import { claimsOf } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { claimKey, knownClaims } from "./pod-volume-claims.ts";

const DISK_CONFLICT = reject("VolumeRestrictions", "node(s) had no available disk", true);
const CLAIM_CONFLICT = reject(
  "VolumeRestrictions",
  "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
  true,
);

export const volumeRestrictions: PluginFactory = (context) => ({
  name: "VolumeRestrictions",
  scope: "cluster",
  queueingHints: {
    podFreed: (pod, { pod: other }) => isSharing(pod, other),
    nodeAdded: (pod) => disksOf(pod).length > 0,
    claim: (pod, { key }) => claimsOf(pod).includes(key),
  },
  filter({ pod }) {
    if (pod.pod.spec.volumes === undefined) return undefined;
    const disks = disksOf(pod);
    const hasConflict = isClaimTaken(pod, context);
    if (disks.length === 0 && !hasConflict) return undefined;
    return {
      type: "check",
      check: (node) =>
        hasDiskConflict(disks, node) ? DISK_CONFLICT : hasConflict ? CLAIM_CONFLICT : undefined,
    };
  },
});

function isClaimTaken(pod: PodInfo, { snapshot, cache }: PluginContext): boolean {
  return knownClaims(pod, cache).some((claim) => {
    if (claim.spec.accessModes?.includes("ReadWriteOncePod") !== true) return false;
    const users = snapshot.claimUsers.get(claimKey(claim));
    return users !== undefined && [...users].some((key) => key !== pod.key);
  });
}

function isSharing(pod: PodInfo, other: PodInfo): boolean {
  const claims = claimsOf(pod);
  const disks = disksOf(pod);
  return (
    claimsOf(other).some((claim) => claims.includes(claim)) ||
    disksOf(other).some((theirs) => disks.some((ours) => ours.id === theirs.id))
  );
}

interface Disk {
  readonly id: string;
  /** The disk can be shared if all pods mount it read-only. */
  readonly isSharedReading: boolean;
}

function hasDiskConflict(disks: readonly Disk[], { pods }: NodeInfo): boolean {
  if (disks.length === 0) return false;
  const isInConflict = (ours: Disk, theirs: Disk): boolean =>
    ours.id === theirs.id && !(ours.isSharedReading && theirs.isSharedReading);
  for (const pod of pods.values()) {
    const theirs = disksOf(pod);
    if (disks.some((disk) => theirs.some((other) => isInConflict(disk, other)))) return true;
  }
  return false;
}

function disksOf({ pod }: PodInfo): readonly Disk[] {
  return (pod.spec.volumes ?? []).flatMap(disksOfVolume);
}

function disksOfVolume(volume: Volume): readonly Disk[] {
  const { gcePersistentDisk, awsElasticBlockStore, iscsi, rbd } = volume;
  if (gcePersistentDisk !== undefined) {
    const { pdName, readOnly = false } = gcePersistentDisk;
    return [{ id: `gce ${pdName}`, isSharedReading: readOnly }];
  }
  if (awsElasticBlockStore !== undefined) {
    return [{ id: `aws ${awsElasticBlockStore.volumeID}`, isSharedReading: false }];
  }
  if (iscsi !== undefined) {
    return [{ id: `iscsi ${iscsi.iqn}`, isSharedReading: iscsi.readOnly ?? false }];
  }
  if (rbd === undefined) return [];
  const { monitors, pool = "rbd", image, readOnly = false } = rbd;
  return monitors.map((monitor) => ({ id: `rbd ${monitor} ${pool} ${image}`, isSharedReading: readOnly }));
}
