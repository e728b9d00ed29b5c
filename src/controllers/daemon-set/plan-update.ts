/** Plans which outdated pods a DaemonSet replaces next. Runs only when no pod is missing or surplus. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { bounds, isBeingDeleted, isUpdated, isUsable } from "./daemon-view.ts";
import type { DaemonView, DaemonNode } from "./daemon-view.ts";

export interface UpdatePlan {
  readonly toDelete: readonly Pod[];
  /** Nodes that get a second, updated pod before the outdated one is deleted. */
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

/** Undefined if the node has several pods of either kind; planPods deletes the surplus first. */
function pairOf({ pods }: DaemonNode, view: DaemonView): Pair | undefined {
  const present = pods.filter((pod) => !isBeingDeleted(pod) && !isTerminal(pod));
  const newPods = present.filter((pod) => isUpdated(pod, view));
  const oldPods = present.filter((pod) => !isUpdated(pod, view));
  if (newPods.length > 1 || oldPods.length > 1) return undefined;
  return { newPod: newPods[0], oldPod: oldPods[0] };
}

/** Deletes unavailable outdated pods at once, and available ones within maxUnavailable. */
function planReplacement(places: readonly DaemonNode[], view: DaemonView, most: number): readonly Pod[] {
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

/** Nodes with an unavailable outdated pod get the updated one at once; the others get it within maxSurge. */
function planSurge(places: readonly DaemonNode[], view: DaemonView, most: number): UpdatePlan {
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
 * Selects outdated pods on nodes that accept no new pod. Unavailable ones go at once, available ones only beyond the wanted number.
 * Otherwise availability would drop when a surging set moves to other nodes.
 */
function leavingPods(places: readonly DaemonNode[], view: DaemonView): readonly Pod[] {
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
