/** Selects the old ReplicaSets that exceed the revision history limit. */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { revisionOf } from "./revision.ts";
import { wantedOf } from "./rollout.ts";

/** Upstream's default, for Deployments without `revisionHistoryLimit`. */
const HISTORY_LIMIT = 10;

/** Oldest revisions beyond the limit, if their set is empty and its status is current. */
export function planCleanup({ spec }: Deployment, oldSets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const kept = oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = kept.length - (spec.revisionHistoryLimit ?? HISTORY_LIMIT);
  if (surplus <= 0) return [];
  return kept.toSorted(compareRevisions).slice(0, surplus).filter(isEmptySet);
}

function compareRevisions(left: ReplicaSet, right: ReplicaSet): number {
  const difference = revisionOf(left) - revisionOf(right);
  return difference < 0n ? -1 : Number(difference > 0n);
}

function isEmptySet(set: ReplicaSet): boolean {
  const isObserved = (set.metadata.generation ?? 0) <= (set.status.observedGeneration ?? 0);
  return set.status.replicas === 0 && wantedOf(set) === 0 && isObserved;
}
