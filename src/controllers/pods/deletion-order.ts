/** Orders surplus pods for deletion, the least useful first, as upstream does. */
import type { ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";
import { findCondition, isReady } from "../../resources/pod/pod-state.ts";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
/** Lower bound of a cost: the least int32. */
const COST_MIN = -(2 ** 31);
const COST_MAX = 2 ** 31 - 1;

/** Order of deletion. `crowding` is the number of pods of the same kind on the pod's node. */
export function replicaDeletionOrder(
  pods: readonly Pod[],
  crowding: (pod: Pod) => number,
  now: number,
): readonly Pod[] {
  return byRank(pods, (pod) => [
    ...stateRank(pod),
    deletionCost(pod),
    -crowding(pod),
    ageRank(readySince(pod), now),
    ...restartRank(pod),
    ageRank(Date.parse(pod.metadata.creationTimestamp), now),
    pod.metadata.uid,
  ]);
}

/** Order for pods that run to completion. Deletion cost does not count. The younger pod goes first, as it has done less. */
export function jobDeletionOrder(pods: readonly Pod[]): readonly Pod[] {
  return byRank(pods, (pod) => [
    ...stateRank(pod),
    -(readySince(pod) ?? Number.POSITIVE_INFINITY),
    ...restartRank(pod),
    -Date.parse(pod.metadata.creationTimestamp),
    pod.metadata.uid,
  ]);
}

function byRank(pods: readonly Pod[], rankOf: (pod: Pod) => Rank): readonly Pod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod) }));
  return ranked.toSorted((left, right) => compareRanks(left.rank, right.rank)).map(({ pod }) => pod);
}

/** Sort key: numbers and texts, compared one after the other; the smaller one goes first. */
type Rank = readonly (number | string)[];

const PHASES: ReadonlyMap<string, number> = new Map([
  ["Pending", 0],
  ["Unknown", 1],
  ["Running", 2],
]);

function stateRank(pod: Pod): Rank {
  const isOnNode = (pod.spec.nodeName ?? "") !== "";
  return [Number(isOnNode), PHASES.get(pod.status.phase ?? "Pending") ?? 0, Number(isReady(pod))];
}

function compareRanks(left: Rank, right: Rank): number {
  for (const [at, value] of left.entries()) {
    const other = right[at] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Values that are not int32 count as zero: a typing error must not keep pods alive. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? "";
  const cost = /^-?(?:0|[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return cost >= COST_MIN && cost <= COST_MAX ? cost : 0;
}

/**
 * Younger pods go first, but ages of the same magnitude are equal. Otherwise a scale-down would always hit the node or zone filled last.
 */
function ageRank(since: number | undefined, now: number): number {
  if (since === undefined || Number.isNaN(since)) return -1;
  const seconds = Math.max(0, (now - since) / 1000);
  return seconds < 1 ? 0 : Math.floor(Math.log2(seconds)) + 1;
}

function readySince(pod: Pod): number | undefined {
  const ready = findCondition(pod, "Ready");
  if (ready?.status !== "True" || ready.lastTransitionTime === undefined) return undefined;
  return Date.parse(ready.lastTransitionTime);
}

/** Restarts of containers, then of sidecars; pods with more restarts go first. */
function restartRank({ spec, status }: Pod): Rank {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const ofSidecars = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return [-maxRestarts(status.containerStatuses ?? []), -maxRestarts(ofSidecars)];
}

function maxRestarts(statuses: readonly ContainerStatus[]): number {
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}
