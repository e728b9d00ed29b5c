/** Which pods of earlier templates a DaemonSet replaces next. Pure; looked at only when each node has what it should have. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { bounds, isGoing, isUpdated, isUsable } from "./daemon-view.ts";
import type { DaemonView, Place } from "./daemon-view.ts";

export interface UpdatePlan {
  readonly toDelete: readonly Pod[];
  /** Nodes that get a second pod, of the present template, before the first one goes. */
  readonly toSurge: readonly string[];
}

export function planUpdate(view: DaemonView): UpdatePlan {
  if (view.set.spec.updateStrategy.type === "OnDelete") return { toDelete: [], toSurge: [] };
  const { surge, unavailable } = bounds(view);
  const places = view.places.filter(({ pods, fitness }) => pods.length > 0 && fitness !== "refuses");
  return surge === 0
    ? { toDelete: planReplacement(places, view, unavailable), toSurge: [] }
    : planSurge(places, view, surge);
}

interface Pair {
  readonly newPod: Pod | undefined;
  readonly oldPod: Pod | undefined;
}

/** Undefined when there are more of one kind than one: the rest of the loop sees to that first. */
function pairOf({ pods }: Place, view: DaemonView): Pair | undefined {
  const present = pods.filter((pod) => !isGoing(pod) && !isTerminal(pod));
  const newPods = present.filter((pod) => isUpdated(pod, view));
  const oldPods = present.filter((pod) => !isUpdated(pod, view));
  if (newPods.length > 1 || oldPods.length > 1) return undefined;
  return { newPod: newPods[0], oldPod: oldPods[0] };
}

/** Old pods that are of no use go at once; of the others as many as may be missing. */
function planReplacement(places: readonly Place[], view: DaemonView, most: number): readonly Pod[] {
  const useless: Pod[] = [];
  const candidates: Pod[] = [];
  let missing = 0;
  for (const place of places) {
    const pair = pairOf(place, view);
    const { newPod, oldPod } = pair ?? {};
    if (newPod === undefined && oldPod !== undefined) {
      (isUsable(oldPod, view) ? candidates : useless).push(oldPod);
    } else if (newPod === undefined || oldPod !== undefined || !isUsable(newPod, view)) {
      missing++;
    }
  }
  return [...useless, ...candidates.slice(0, Math.max(0, most - missing))];
}

/** A node whose old pod is of no use gets its new one at once; of the others as many as may have two. */
function planSurge(places: readonly Place[], view: DaemonView, most: number): UpdatePlan {
  const toDelete: Pod[] = [];
  const urgent: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const place of places) {
    const pair = pairOf(place, view);
    if (pair === undefined) surging++;
    if (pair?.oldPod === undefined) continue;
    if (pair.newPod === undefined) {
      if (place.fitness === "fits") (isUsable(pair.oldPod, view) ? candidates : urgent).push(place.node);
    } else if (isUsable(pair.newPod, view)) toDelete.push(pair.oldPod);
    else surging++;
  }
  return {
    toDelete: [...toDelete, ...leavingPods(places, view)],
    toSurge: [...urgent, ...candidates.slice(0, Math.max(0, most - surging))],
  };
}

/**
 * Old pods where no new one may come: those that are of no use, and of the others as many as there are more of use in all than nodes that want one. A
 * set that may surge shall not have fewer when it moves from some nodes to others.
 */
function leavingPods(places: readonly Place[], view: DaemonView): readonly Pod[] {
  const pairs = places.map((place) => ({ place, pair: pairOf(place, view) }));
  const shown = pairs.flatMap(({ pair }) => pair?.oldPod ?? pair?.newPod ?? []);
  const wanted = view.places.filter(({ fitness }) => fitness === "fits").length;
  const spare = shown.filter((pod) => isUsable(pod, view)).length - wanted;
  const leaving = pairs.flatMap(({ place, pair }) =>
    place.fitness !== "fits" && pair?.newPod === undefined ? (pair?.oldPod ?? []) : [],
  );
  const useful = leaving.filter((pod) => isUsable(pod, view));
  return [...leaving.filter((pod) => !isUsable(pod, view)), ...useful.slice(0, Math.max(0, spare))];
}
