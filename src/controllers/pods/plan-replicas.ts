/** Plans the pods of ReplicaSets and ReplicationControllers: creations, deletions and counts. Pure. */
import type { Pod, PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { findAvailableAt, isActive } from "../../resources/pod/pod-state.ts";
import { replicaDeletionOrder } from "./deletion-order.ts";
import { stateOf } from "./replica-state.ts";

/** Upper bound of creations or deletions in one pass, so that one huge set does not starve others. */
const BATCH_MAX = 500;

export interface ReplicaGoal {
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  /** A set that is being deleted neither creates nor deletes pods. */
  readonly isDeleted: boolean;
}

export interface ReplicaPlan {
  readonly missing: number;
  readonly victims: readonly Pod[];
  readonly counts: ReplicaCounts;
  /** Counts once the victims are terminating. */
  readonly countsAfter: ReplicaCounts;
  /** Delay until the next pod becomes available by the passage of time. */
  readonly recheckAfterMs: number | undefined;
}

export interface ReplicaCounts {
  readonly replicas: number;
  readonly fullyLabeledReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly terminatingReplicas: number;
}

/** `pods` match the selector. `siblings` are pods of other sets with the same owner: they count towards the crowding of a node. */
export function planReplicas(
  goal: ReplicaGoal,
  pods: readonly Pod[],
  { siblings, now }: { readonly siblings: readonly Pod[]; readonly now: number },
): ReplicaPlan {
  const count = new Count(goal, now);
  for (const pod of pods) count.add(pod);
  const surplus = goal.isDeleted ? 0 : count.replicas - goal.replicas;
  const victims = surplus > 0 ? leastUseful(pods.filter(isActive), surplus, { siblings, now }) : [];
  const counts = count.shown();
  return {
    missing: Math.min(Math.max(-surplus, 0), BATCH_MAX),
    victims,
    counts,
    countsAfter: victims.length === 0 ? counts : countsWithout(victims, counts, new Count(goal, now)),
    recheckAfterMs: count.nextAvailableAt === undefined ? undefined : count.nextAvailableAt - now,
  };
}

function countsWithout(victims: readonly Pod[], counts: ReplicaCounts, lost: Count): ReplicaCounts {
  for (const pod of victims) lost.add(pod);
  const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas } = lost.shown();
  return {
    replicas: counts.replicas - replicas,
    fullyLabeledReplicas: counts.fullyLabeledReplicas - fullyLabeledReplicas,
    readyReplicas: counts.readyReplicas - readyReplicas,
    availableReplicas: counts.availableReplicas - availableReplicas,
    terminatingReplicas: counts.terminatingReplicas + replicas,
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
  return replicaDeletionOrder(active, crowding, now).slice(0, Math.min(surplus, BATCH_MAX));
}

/** Counts in a single pass: large sets have many pods, and each changes often. */
class Count {
  /** Template labels that the selector does not already guarantee. */
  readonly #labels: readonly { readonly name: string; readonly value: string }[];
  readonly #minReadySeconds: number;
  readonly #now: number;
  replicas = 0;
  /** Time at which the next pod becomes available. */
  nextAvailableAt: number | undefined;
  #labelled = 0;
  #ready = 0;
  #available = 0;
  #terminating = 0;

  constructor({ selector, template, minReadySeconds }: ReplicaGoal, now: number) {
    this.#labels = Object.entries(template.metadata.labels ?? {})
      .filter(([name, value]) => selector.matchLabels?.[name] !== value)
      .map(([name, value]) => ({ name, value }));
    this.#minReadySeconds = minReadySeconds;
    this.#now = now;
  }

  add(pod: Pod): void {
    const state = stateOf(pod);
    if (state === "ended") return;
    if (state === "terminating") {
      this.#terminating += 1;
      return;
    }
    this.replicas += 1;
    if (this.#isLabelled(pod)) this.#labelled += 1;
    if (state === "unready") return;
    this.#ready += 1;
    // Shortcut for most sets: without minReadySeconds a ready pod is available.
    if (this.#minReadySeconds === 0) this.#available += 1;
    else this.#await(findAvailableAt(pod, this.#minReadySeconds));
  }

  #isLabelled({ metadata }: Pod): boolean {
    for (const { name, value } of this.#labels) if (metadata.labels?.[name] !== value) return false;
    return true;
  }

  #await(availableAt: number | undefined): void {
    if (availableAt === undefined) return;
    if (availableAt <= this.#now) this.#available += 1;
    else this.nextAvailableAt = Math.min(this.nextAvailableAt ?? availableAt, availableAt);
  }

  shown(): ReplicaCounts {
    return {
      replicas: this.replicas,
      fullyLabeledReplicas: this.#labelled,
      readyReplicas: this.#ready,
      availableReplicas: this.#available,
      terminatingReplicas: this.#terminating,
    };
  }
}
