/** The rules of loops that keep a number of equal pods: ReplicaSet and ReplicationController. Nothing here acts. */
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { findAvailableAt, isActive, isReady, isTerminal } from "../../resources/pod/pod-state.ts";
import { byUsefulness } from "./victims.ts";

/** Most pods created or deleted in one pass, so that one huge set cannot starve the rest. */
const BATCH_MAX = 500;

export interface ReplicaGoal {
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly template: PodTemplateSpec;
  /** A set that is on its way out keeps nothing in number. */
  readonly isDeleted: boolean;
}

export interface ReplicaPlan {
  readonly missing: number;
  readonly victims: readonly Pod[];
  readonly counts: ReplicaCounts;
  /** When the next pod becomes available just by time. */
  readonly recheckAfterMs: number | undefined;
}

export interface ReplicaCounts {
  readonly replicas: number;
  readonly fullyLabeledReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly terminatingReplicas: number;
}

/** `siblings` are the pods of other sets with the same owner: they count when it comes to how crowded a node is. */
export function planReplicas(
  goal: ReplicaGoal,
  pods: readonly Pod[],
  { siblings, now }: { readonly siblings: readonly Pod[]; readonly now: number },
): ReplicaPlan {
  const active = pods.filter(isActive);
  const surplus = goal.isDeleted ? 0 : active.length - goal.replicas;
  const victims = surplus > 0 ? leastUseful(active, surplus, { siblings, now }) : [];
  return {
    missing: Math.min(Math.max(-surplus, 0), BATCH_MAX),
    victims,
    counts: countReplicas(goal, pods, now),
    recheckAfterMs: nextAvailableMs(active, goal.minReadySeconds, now),
  };
}

function leastUseful(
  active: readonly Pod[],
  surplus: number,
  { siblings, now }: { readonly siblings: readonly Pod[]; readonly now: number },
): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of [...active, ...siblings.filter(isActive)]) {
    const node = spec.nodeName ?? "";
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const crowding = ({ spec }: Pod): number => onNode.get(spec.nodeName ?? "") ?? 0;
  return byUsefulness(active, crowding, now).slice(0, Math.min(surplus, BATCH_MAX));
}

function countReplicas(
  { template, minReadySeconds }: ReplicaGoal,
  pods: readonly Pod[],
  now: number,
): ReplicaCounts {
  const active = pods.filter(isActive);
  const labels = Object.entries(template.metadata.labels ?? {});
  const isLabelled = ({ metadata }: Pod): boolean =>
    labels.every(([name, value]) => metadata.labels?.[name] === value);
  const isAvailable = (pod: Pod): boolean =>
    (findAvailableAt(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= now;
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isLabelled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter(isAvailable).length,
    terminatingReplicas: pods.filter((pod) => !isActive(pod) && !isTerminal(pod)).length,
  };
}

function nextAvailableMs(active: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  let soonest: number | undefined;
  for (const pod of active) {
    const at = findAvailableAt(pod, minReadySeconds);
    if (at !== undefined && at > now && (soonest === undefined || at < soonest)) soonest = at;
  }
  return soonest === undefined ? undefined : soonest - now;
}
