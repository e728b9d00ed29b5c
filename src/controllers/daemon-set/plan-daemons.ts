/** Plans which pods a DaemonSet creates and deletes, so that each fitting node has one. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findAvailableAt, isReady, isTerminal } from "../../resources/pod/pod-state.ts";
import { FAILURES } from "./daemon-pods.ts";
import { allowsSurge, isBeingDeleted, isUpdated, isUsable } from "./daemon-view.ts";
import type { DaemonView, DaemonNode } from "./daemon-view.ts";

/** Upper bound of creations, and of deletions, in one pass; upstream's value. */
const BATCH_MAX = 250;
const FIRST_BACK_OFF_MS = 1000;
const MAX_BACK_OFF_MS = 15 * 60_000;
/** A pod that lived longer than this did not fail at startup; its failure starts a new count. */
const LONG_LIFE_MS = 10 * 60_000;

export interface DaemonPlan {
  readonly toCreate: readonly { readonly node: string; readonly failures: number }[];
  readonly toDelete: readonly Pod[];
  /** Pods among `toDelete` that terminated by themselves. */
  readonly ended: readonly Pod[];
  /** Delay until the next failed pod may be replaced. */
  readonly waitMs: number | undefined;
}

export function planPods(view: DaemonView): DaemonPlan {
  const plans = view.places.map((place) => planPlace(place, view));
  const waits = plans.flatMap(({ waitMs }) => waitMs ?? []);
  return {
    toCreate: plans.flatMap(({ toCreate }) => toCreate).slice(0, BATCH_MAX),
    toDelete: [...view.lost, ...plans.flatMap(({ toDelete }) => toDelete)].slice(0, BATCH_MAX),
    ended: plans.flatMap(({ ended }) => ended),
    waitMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

const NOTHING: DaemonPlan = { toCreate: [], toDelete: [], ended: [], waitMs: undefined };

function planPlace(place: DaemonNode, view: DaemonView): DaemonPlan {
  const { node, fitness, pods } = place;
  const present = pods.filter((pod) => !isBeingDeleted(pod));
  if (fitness === "refuses") return { ...NOTHING, toDelete: present };
  if (pods.length === 0)
    return fitness === "fits" ? { ...NOTHING, toCreate: [{ node, failures: 0 }] } : NOTHING;
  const alive = present.filter((pod) => !isTerminal(pod));
  const ended = planEnded(place, view);
  const surplus = allowsSurge(view) ? surplusWithSurge(alive, view) : alive.slice(1);
  return { ...ended, toDelete: [...ended.toDelete, ...surplus] };
}

/**
 * A terminated pod is replaced. A failed one is replaced after a back-off that doubles with each consecutive failure. Otherwise a node that
 * rejects the pod would cause an endless loop. The new pod carries the count.
 */
function planEnded({ node, fitness, pods }: DaemonNode, view: DaemonView): DaemonPlan {
  const { now } = view;
  const present = pods.filter((pod) => !isBeingDeleted(pod));
  const ended = present.filter(isTerminal);
  const waits = ended.map((pod) => (pod.status.phase === "Failed" ? backOffEnd(pod, now) - now : 0));
  const due = ended.filter((_, at) => (waits[at] ?? 0) <= 0);
  const waiting = waits.filter((wait) => wait > 0);
  // A surging set need not wait until the old pod is gone.
  const isEmpty = allowsSurge(view) ? due.length === present.length : due.length === pods.length;
  const failures = Math.max(0, ...due.map((pod) => failuresWith(pod, now)));
  return {
    toCreate: isEmpty && fitness === "fits" ? [{ node, failures }] : [],
    toDelete: due,
    ended: due,
    waitMs: waiting.length === 0 ? undefined : Math.min(...waiting),
  };
}

function backOffEnd(pod: Pod, now: number): number {
  const failures = failuresWith(pod, now);
  const backOff = Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures - 1, 30));
  return endOf(pod, now) + backOff;
}

/** Consecutive failures including this pod's; a success resets the count. */
function failuresWith(pod: Pod, now: number): number {
  if (pod.status.phase !== "Failed") return 0;
  const isLongLived = endOf(pod, now) - Date.parse(pod.metadata.creationTimestamp) > LONG_LIFE_MS;
  const text = pod.metadata.annotations?.[FAILURES] ?? "";
  const before = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return isLongLived ? 1 : before + 1;
}

/**
 * Time of termination. A rejected pod never ran and ended at its creation. Times in the future, from a node whose clock is ahead, are
 * ignored.
 */
function endOf({ metadata, status }: Pod, now: number): number {
  const ends = (status.containerStatuses ?? []).flatMap(({ state }) => state.terminated?.finishedAt ?? []);
  const past = ends.map((text) => Date.parse(text)).filter((end) => end <= now);
  return Math.max(Date.parse(metadata.creationTimestamp), ...past);
}

/** A node may have one current and one outdated pod. The outdated one is deleted once it is unready or the current one is available. */
function surplusWithSurge(alive: readonly Pod[], view: DaemonView): readonly Pod[] {
  if (alive.length <= 1) return [];
  const newPod = alive.find((pod) => isUpdated(pod, view));
  const oldPod = alive.find((pod) => !isUpdated(pod, view));
  const others = alive.filter((pod) => pod !== newPod && pod !== oldPod);
  if (newPod === undefined || oldPod === undefined) return others;
  const mayGo = !isReady(oldPod) || isUsable(newPod, view);
  return mayGo ? [...others, oldPod] : others;
}

/** Delay until the next ready pod becomes available. */
export function nextUsableMs({ set, places, now }: DaemonView): number | undefined {
  const times = places
    .flatMap(({ pods }) => pods)
    .flatMap((pod) => findAvailableAt(pod, set.spec.minReadySeconds ?? 0) ?? [])
    .filter((at) => at > now);
  let soonest: number | undefined;
  for (const at of times) soonest = Math.min(soonest ?? at, at);
  return soonest === undefined ? undefined : soonest - now;
}
