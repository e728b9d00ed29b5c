/** Which pods go first when there are too many: those that serve least, as upstream orders them. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findCondition, isReady } from "../../resources/pod/pod-state.ts";

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const COST_MAX = 2 ** 31 - 1;

/** In the order in which they go. `crowding` says how many pods of the same kind share a pod's node. */
export function byUsefulness(
  pods: readonly Pod[],
  crowding: (pod: Pod) => number,
  now: number,
): readonly Pod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, crowding(pod), now) }));
  return ranked.toSorted((left, right) => compareRanks(left.rank, right.rank)).map(({ pod }) => pod);
}

/** Numbers and texts, compared one after the other; what is smaller goes first. */
type Rank = readonly (number | string)[];

const PHASES: ReadonlyMap<string, number> = new Map([
  ["Pending", 0],
  ["Unknown", 1],
  ["Running", 2],
]);

function rankOf(pod: Pod, crowding: number, now: number): Rank {
  const isOnNode = (pod.spec.nodeName ?? "") !== "";
  return [
    Number(isOnNode),
    PHASES.get(pod.status.phase ?? "Pending") ?? 0,
    Number(isReady(pod)),
    deletionCost(pod),
    -crowding,
    ageRank(readySince(pod), now),
    -maxRestarts(pod),
    ageRank(Date.parse(pod.metadata.creationTimestamp), now),
    pod.metadata.uid,
  ];
}

function compareRanks(left: Rank, right: Rank): number {
  for (const [at, value] of left.entries()) {
    const other = right[at] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** What is no 32-bit number counts as none: somebody's typing error must not keep pods alive. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? "";
  const cost = /^-?(?:0|[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return Math.abs(cost) <= COST_MAX ? cost : 0;
}

/**
 * Younger ones go first, but ages of the same magnitude are alike: otherwise scaling down would always hit the pods of the same
 * node or zone, whichever was filled last.
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

function maxRestarts({ status }: Pod): number {
  return Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
