/** Keeps pods off nodes that reached a driver's limit of attached volumes. */

import { PersistentVolume, type PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { CSINode, StorageClass } from "../../api/generated/types/storage-v1.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import { ALWAYS } from "../framework/cluster-event.ts";
import { type PluginFactory, reject, type Rejection } from "../framework/scheduler-plugin.ts";
import { claimsOf } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { claimKey, hasClaims, knownClaims } from "./pod-volume-claims.ts";

const REJECTION = reject("NodeVolumeLimits", "node(s) exceed max volume count", true);

export const nodeVolumeLimits: PluginFactory = ({ cache }) => ({
  name: "NodeVolumeLimits",
  scope: "cluster",
  queueingHints: {
    csiNode: ALWAYS,
    claim: (pod, { key }) => claimsOf(pod).includes(key),
    podFreed: (_, { pod }) => hasClaims(pod),
    nodeAdded: ALWAYS,
  },
  filter({ pod }) {
    if (!hasClaims(pod)) return undefined;
    const wanted = volumesByDriver(pod, cache);
    if (wanted.size === 0) return undefined;
    return { type: "check", check: (node) => checkLimits(wanted, node, cache) };
  },
});

/** Volume ids by driver: a volume that several pods use is attached once. */
type Volumes = ReadonlyMap<string, ReadonlySet<string>>;

function checkLimits(wanted: Volumes, node: NodeInfo, cache: CacheReader): Rejection | undefined {
  const drivers = cache(CSINode).find({ name: node.name })?.spec.drivers ?? [];
  const limited = drivers.filter(
    ({ name, allocatable }) => wanted.has(name) && allocatable?.count !== undefined,
  );
  if (limited.length === 0) return undefined;
  const attached = attachedVolumes(node, cache);
  const isExceeded = limited.some(({ name, allocatable }) => {
    const before = attached.get(name) ?? new Set<string>();
    const after = new Set([...before, ...(wanted.get(name) ?? [])]);
    return after.size > before.size && after.size > (allocatable?.count ?? Infinity);
  });
  return isExceeded ? REJECTION : undefined;
}

function attachedVolumes({ pods }: NodeInfo, cache: CacheReader): Volumes {
  const attached = new Map<string, Set<string>>();
  for (const pod of pods.values()) {
    for (const [driver, ids] of volumesByDriver(pod, cache)) addAll(attached, driver, ids);
  }
  return attached;
}

function volumesByDriver(pod: PodInfo, cache: CacheReader): Volumes {
  const found = new Map<string, Set<string>>();
  if (!hasClaims(pod)) return found;
  for (const claim of knownClaims(pod, cache)) {
    const volume = findVolume(claim, cache);
    if (volume !== undefined) addAll(found, volume.driver, [volume.id]);
  }
  return found;
}

/** Undefined for volumes without a CSI driver. */
function findVolume(
  claim: PersistentVolumeClaim,
  cache: CacheReader,
): { readonly driver: string; readonly id: string } | undefined {
  const { volumeName } = claim.spec;
  const volume = volumeName === undefined ? undefined : cache(PersistentVolume).find({ name: volumeName });
  if (volume !== undefined) {
    const { csi } = volume.spec;
    return csi === undefined ? undefined : { driver: csi.driver, id: csi.volumeHandle };
  }
  const driver = cache(StorageClass).find({ name: storageClassOf(claim) })?.provisioner;
  // A volume that is not provisioned yet has no handle and counts as one.
  return driver === undefined ? undefined : { driver, id: `claim ${claimKey(claim)}` };
}

function addAll(found: Map<string, Set<string>>, driver: string, ids: Iterable<string>): void {
  const known = found.get(driver) ?? new Set<string>();
  for (const id of ids) known.add(id);
  found.set(driver, known);
}
