/**
 * Restricts pods to nodes that can reach their volumes.
 *
 * For claims that wait for the pod's node, it binds a volume there or writes the node for the provisioner. The pod is bound once its claims
 * are.
 */

import { PersistentVolume, type PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { CSIDriver, CSIStorageCapacity, StorageClass } from "../../api/generated/types/storage-v1.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";
import { volumeCandidates } from "../../resources/storage/volume-candidates.ts";
import { ALWAYS } from "../framework/cluster-event.ts";
import {
  type FilterAnswer,
  type PluginContext,
  type PluginFactory,
  reject,
  rejectAll,
  type Rejection,
} from "../framework/scheduler-plugin.ts";
import { claimsOf } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { hasClaims, readClaims, SELECTED_NODE } from "./pod-volume-claims.ts";
import { type ClaimPlan, VolumeBinder } from "./volume-binder.ts";
import {
  hasCapacity,
  isProvisionable,
  isReachable,
  requestedBytes,
  suitableVolumes,
} from "./volume-match.ts";

const NAME = "VolumeBinding";
const NODE_CONFLICT = reject(NAME, "node(s) didn't match PersistentVolume's node affinity", false);
const BIND_CONFLICT = reject(NAME, "node(s) didn't find available persistent volumes to bind", false);
const NO_SPACE = reject(NAME, "node(s) did not have enough free storage", false);
const NO_VOLUME = reject(
  NAME,
  "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
  false,
);

export const volumeBinding: PluginFactory = (context) => {
  const binder = new VolumeBinder(context);
  return {
    name: NAME,
    scope: "cluster",
    queueingHints: {
      claim: (pod, { key }) => claimsOf(pod).includes(key),
      volume: ALWAYS,
      storageClass: ALWAYS,
      csiNode: ALWAYS,
      nodeAdded: ALWAYS,
      nodeLabels: ALWAYS,
    },
    filter: ({ pod }) => volumeFilter(pod, context, binder),
    reserve({ pod }, node) {
      const claims = readClaims(pod, context.cache);
      if (claims.type !== "ready" || claims.delayed.length === 0) return;
      const plan = planner(claims.delayed, context, binder)(node);
      if (Array.isArray(plan)) binder.reserve(pod.uid, plan);
    },
    unreserve: ({ pod }) => binder.release(pod.uid),
    hasPreBind: ({ pod }) => binder.has(pod.uid),
    preBind: ({ pod }, node, signal) => binder.bind(pod, node, signal),
  };
};

function volumeFilter(pod: PodInfo, context: PluginContext, binder: VolumeBinder): FilterAnswer {
  if (!hasClaims(pod)) return undefined;
  const claims = readClaims(pod, context.cache);
  if (claims.type === "waiting") return rejectAll(reject(NAME, claims.reason, false));
  const volumes = claims.bound.map(({ spec }) =>
    context.cache(PersistentVolume).find({ name: spec.volumeName ?? "" }),
  );
  const plan = planner(claims.delayed, context, binder);
  return {
    type: "check",
    check(node) {
      for (const volume of volumes) {
        if (volume === undefined) return NO_VOLUME;
        if (!isReachable(volume, node.node)) return NODE_CONFLICT;
      }
      const answer = plan(node);
      return Array.isArray(answer) ? undefined : (answer as Rejection);
    },
  };
}

/** Name of the index of volumes by `candidateValues`. */
export const VOLUME_CANDIDATES = "scheduler/volume-candidates";

type Planner = (node: NodeInfo) => readonly ClaimPlan[] | Rejection;

/** Plans an action for each claim, assuming that the pod is placed on the node. */
function planner(
  claims: readonly PersistentVolumeClaim[],
  { cache }: PluginContext,
  binder: VolumeBinder,
): Planner {
  if (claims.length === 0) return () => [];
  const findVolumes = (value: string): readonly PersistentVolume[] =>
    cache(PersistentVolume).indexed(VOLUME_CANDIDATES, value);
  const wanted = claims
    .toSorted((a, b) => requestedBytes(a) - requestedBytes(b))
    .map((claim) => ({
      claim,
      suitable: suitableVolumes(claim, volumeCandidates(claim, findVolumes)).filter(
        (volume) => !binder.isTaken(volume, claim),
      ),
      storageClass: cache(StorageClass).find({ name: storageClassOf(claim) }),
    }));
  const capacities = cache(CSIStorageCapacity).list();
  return ({ node }) => {
    const taken = new Set<string>();
    const plans: ClaimPlan[] = [];
    for (const { claim, suitable, storageClass } of wanted) {
      const selected = ownValue(claim.metadata.annotations, SELECTED_NODE);
      if (selected !== undefined && selected !== node.metadata.name) return BIND_CONFLICT;
      const volume = suitable.find((it) => !taken.has(it.metadata.name) && isReachable(it, node));
      if (volume !== undefined && selected === undefined) {
        taken.add(volume.metadata.name);
        plans.push({ type: "bind", claim, volume });
        continue;
      }
      if (storageClass === undefined || !isProvisionable(storageClass, node)) return BIND_CONFLICT;
      const isMeasured =
        cache(CSIDriver).find({ name: storageClass.provisioner })?.spec.storageCapacity === true;
      if (isMeasured && !hasCapacity(capacities, claim, node)) return NO_SPACE;
      plans.push({ type: "provision", claim });
    }
    return plans;
  };
}
