/** Computes the size of each ReplicaSet of a Deployment: all rules of rollouts and scaling. Pure. */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { desiredReplicasOf, maxReplicasOf } from "./revision.ts";
import {
  allSets,
  availableOf,
  compareAge,
  isActiveSet,
  maxSurge,
  maxUnavailable,
  totalOf,
  wantedOf,
} from "./rollout.ts";
import type { Rollout } from "./rollout.ts";

export interface SetScale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

/** The Deployment's size changed after its sets were scaled. */
export function isScaling(deployment: Deployment, rollout: Rollout): boolean {
  const active = allSets(rollout).filter(isActiveSet);
  return active.some((set) => (desiredReplicasOf(set) ?? wantedOf(deployment)) !== wantedOf(deployment));
}

/** During a rollout, a new size is spread over all sets in proportion, so that neither version is favoured. */
export function planScaling(deployment: Deployment, rollout: Rollout): readonly SetScale[] {
  const only = onlySet(rollout);
  if (only !== undefined) return changed([{ set: only, replicas: wantedOf(deployment) }]);
  const { newSet, oldSets } = rollout;
  if (newSet !== undefined && isSaturated(deployment, newSet)) {
    return changed(oldSets.filter(isActiveSet).map((set) => ({ set, replicas: 0 })));
  }
  return deployment.spec.strategy.type === "Recreate" ? [] : planProportions(deployment, rollout);
}

/** The only active set; if none is active, the set that would become active. */
function onlySet(rollout: Rollout): ReplicaSet | undefined {
  const { newSet, oldSets } = rollout;
  const active = allSets(rollout).filter(isActiveSet);
  if (active.length > 1) return undefined;
  return active[0] ?? newSet ?? oldSets.at(-1);
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const replicas = wantedOf(deployment);
  const isFull = wantedOf(set) === replicas && availableOf(set) === replicas;
  return isFull && isSettled(set) && desiredReplicasOf(set) === replicas;
}

function planProportions(deployment: Deployment, rollout: Rollout): readonly SetScale[] {
  const active = allSets(rollout).filter(isActiveSet);
  const replicas = wantedOf(deployment);
  const allowed = replicas === 0 ? 0 : replicas + maxSurge(deployment);
  const toAdd = allowed - totalOf(active, wantedOf);
  // The largest set gets its share first and takes the remainder. Among equals, the newest leads when growing and the oldest when
  // shrinking.
  const ageSign = toAdd > 0 ? -1 : 1;
  const inTurn = active.toSorted(
    (left, right) => wantedOf(right) - wantedOf(left) || ageSign * compareAge(left, right),
  );
  let added = 0;
  const scales = inTurn.map((set) => {
    const share = toAdd === 0 ? 0 : proportion(deployment, set, { toAdd, added });
    added += share;
    return { set, replicas: wantedOf(set) + share };
  });
  const [first, ...rest] = scales;
  if (first === undefined) return [];
  return changed([{ ...first, replicas: Math.max(0, first.replicas + toAdd - added) }, ...rest], deployment);
}

function proportion(
  deployment: Deployment,
  set: ReplicaSet,
  { toAdd, added }: { readonly toAdd: number; readonly added: number },
): number {
  const fraction = fractionOf(deployment, set);
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

/** Growth of the set that keeps its share of the whole. */
function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  const replicas = wantedOf(deployment);
  if (replicas === 0) return -wantedOf(set);
  const before = maxReplicasOf(set) ?? deployment.status.replicas ?? 0;
  if (before === 0) return 0;
  return Math.round((wantedOf(set) * (replicas + maxSurge(deployment))) / before) - wantedOf(set);
}

/** Skips sets with the right size, unless their desired-replicas annotation is outdated. */
function changed(scales: readonly SetScale[], deployment?: Deployment): readonly SetScale[] {
  return scales.filter(({ set, replicas }) => {
    const isStale = deployment !== undefined && desiredReplicasOf(set) !== wantedOf(deployment);
    return replicas !== wantedOf(set) || isStale;
  });
}

/** One step of a rolling update: first grow the new set within maxSurge, then shrink old ones within maxUnavailable. */
export function planRollingUpdate(deployment: Deployment, rollout: Rollout): readonly SetScale[] {
  const { newSet } = rollout;
  if (newSet === undefined) return [];
  const replicas = newSetReplicas(deployment, rollout);
  if (replicas !== wantedOf(newSet)) return [{ set: newSet, replicas }];
  return planShrinking(deployment, newSet, rollout.oldSets);
}

/** Size that the new set may have now; a new set is created with it. */
export function newSetReplicas(deployment: Deployment, rollout: Rollout): number {
  const wanted = wantedOf(deployment);
  const current = rollout.newSet === undefined ? 0 : wantedOf(rollout.newSet);
  if (deployment.spec.strategy.type === "Recreate" || current >= wanted) return wanted;
  const room = wanted + maxSurge(deployment) - totalOf(allSets(rollout), wantedOf);
  return room <= 0 ? current : Math.min(current + room, wanted);
}

function planShrinking(
  deployment: Deployment,
  newSet: ReplicaSet,
  oldSets: readonly ReplicaSet[],
): readonly SetScale[] {
  const all = [...oldSets, newSet];
  if (!all.every(isSettled)) return [];
  const minAvailable = wantedOf(deployment) - maxUnavailable(deployment);
  const newMissing = wantedOf(newSet) - stayingOf(newSet);
  const mayGo = totalOf(all, wantedOf) - minAvailable - newMissing;
  if (mayGo <= 0) return [];
  const sizes = new Map(oldSets.map((set) => [set, wantedOf(set)]));
  // Unavailable pods go first: they do not count towards the availability that must stay.
  takeFrom(sizes, mayGo, (set, size) => Math.max(0, size - stayingOf(set)));
  const spare = totalOf(all, stayingOf) - minAvailable;
  takeFrom(sizes, Math.max(0, spare), (_, size) => size);
  return changed([...sizes].map(([set, replicas]) => ({ set, replicas })));
}

/**
 * The set's status describes its current size. Otherwise a set that shrank and grew again may still lose pods that its status counts;
 * upstream counts them. The set's next status update triggers the next pass.
 */
function isSettled({ metadata, status }: ReplicaSet): boolean {
  return (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Available pods beyond the set's size are about to be deleted, so they do not count. Upstream counts them. */
function stayingOf(set: ReplicaSet): number {
  return Math.min(availableOf(set), wantedOf(set));
}

/** Takes `count` in total, oldest sets first, from each set at most the number that `givable` allows. */
function takeFrom(
  sizes: Map<ReplicaSet, number>,
  count: number,
  givable: (set: ReplicaSet, size: number) => number,
): void {
  let left = count;
  for (const [set, size] of sizes) {
    const taken = Math.min(left, givable(set, size));
    sizes.set(set, size - taken);
    left -= taken;
  }
}
