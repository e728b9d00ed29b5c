/**
 * Plans the next steps of a StatefulSet. Pure.
 *
 * An ordered set takes one step and waits for its effect; a parallel set takes all possible steps. There are three phases in order: create
 * missing pods, delete pods beyond the range, replace outdated pods.
 */
import type { ControllerRevision } from "../../api/generated/types/apps-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findAvailableAt, isTerminal } from "../../resources/pod/pod-state.ts";
import { scaledValue } from "../../resources/rules/int-or-percent.ts";
import { BATCH_MAX, isBeingDeleted, isUsable, revisionOf, startOf, wantedOf } from "./set-pods.ts";
import type { SetView, Slot } from "./set-pods.ts";

export type PodStep =
  | { readonly type: "create"; readonly ordinal: number; readonly revision: ControllerRevision }
  | { readonly type: "delete"; readonly pod: Pod };

export function planSteps(view: SetView): readonly PodStep[] {
  const filling = isOrdered(view) ? fillInOrder(view) : fillAtOnce(view);
  if (filling !== "done") return filling;
  const shrinking = isOrdered(view) ? shrinkInOrder(view) : shrinkAtOnce(view);
  if (shrinking !== "done") return shrinking;
  return planUpdate(view);
}

/** Steps to take now; an empty list waits, "done" moves on to the next phase. */
type Phase = readonly PodStep[] | "done";

function isOrdered({ set }: SetView): boolean {
  return set.spec.podManagementPolicy !== "Parallel";
}

function fillInOrder(view: SetView): Phase {
  for (const slot of view.slots) {
    if (slot.pod === undefined) return [creationOf(slot, view)];
    if (isBeingDeleted(slot.pod)) return [];
    if (isTerminal(slot.pod)) return [{ type: "delete", pod: slot.pod }];
    if (!isUsable(slot.pod, view)) return [];
  }
  return "done";
}

function fillAtOnce(view: SetView): Phase {
  const ended = view.slots.flatMap(({ pod }) =>
    pod !== undefined && isTerminal(pod) && !isBeingDeleted(pod) ? [pod] : [],
  );
  const steps: readonly PodStep[] = [
    ...ended.map((pod) => ({ type: "delete", pod }) as const),
    ...view.slots.filter(({ pod }) => pod === undefined).map((slot) => creationOf(slot, view)),
  ];
  return steps.length === 0 ? "done" : steps.slice(0, BATCH_MAX);
}

/** New pods below the partition get the current revision. */
function creationOf({ ordinal }: Slot, { set, current, update }: SetView): PodStep {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  const partition = type === "OnDelete" ? 0 : (rollingUpdate?.partition ?? 0);
  return { type: "create", ordinal, revision: ordinal < startOf(set) + partition ? current : update };
}

/** Deletes the highest ordinal, only while all other pods are available. An unavailable pod does not prevent its own deletion. */
function shrinkInOrder(view: SetView): Phase {
  const [next] = view.condemned;
  if (next === undefined) return "done";
  if (isBeingDeleted(next)) return [];
  const mayGo = isUsable(next, view) || next === firstUnavailable(view);
  return mayGo ? [{ type: "delete", pod: next }] : [];
}

function shrinkAtOnce({ condemned }: SetView): Phase {
  const left = condemned.filter((pod) => !isBeingDeleted(pod));
  if (left.length === 0) return "done";
  return left.slice(0, BATCH_MAX).map((pod) => ({ type: "delete", pod }));
}

/** A pod within minReadySeconds counts as unavailable too. */
function firstUnavailable(view: SetView): Pod | undefined {
  const pods = [...view.slots.flatMap(({ pod }) => pod ?? []), ...view.condemned.toReversed()];
  return pods.find((pod) => !isUsable(pod, view) || isBeingDeleted(pod));
}

function planUpdate(view: SetView): readonly PodStep[] {
  const { type, rollingUpdate = {} } = view.set.spec.updateStrategy;
  if (type === "OnDelete") return [];
  const { partition = 0, maxUnavailable } = rollingUpdate;
  const slots = view.slots.slice(partition).toReversed();
  const chosen =
    maxUnavailable === undefined
      ? nextOld(slots, view)
      : spareOld(slots, view, Math.max(1, scaledValue(maxUnavailable, wantedOf(view.set), "down")));
  return chosen.slice(0, BATCH_MAX).map((pod) => ({ type: "delete", pod }));
}

/** First outdated pod, if all pods before it are available. */
function nextOld(slots: readonly Slot[], view: SetView): readonly Pod[] {
  for (const { pod } of slots) {
    if (pod === undefined || isBeingDeleted(pod)) return [];
    if (isOld(pod, view)) return [pod];
    if (!isUsable(pod, view)) return [];
  }
  return [];
}

/** Unavailable outdated pods first, within maxUnavailable. */
function spareOld(slots: readonly Slot[], view: SetView, mostMissing: number): readonly Pod[] {
  const isUp = (pod: Pod): boolean => !isBeingDeleted(pod) && isUsable(pod, view);
  const targets = slots
    .flatMap(({ pod }) => pod ?? [])
    .filter((pod) => !isBeingDeleted(pod) && isOld(pod, view));
  const useless = targets.filter((pod) => !isUp(pod));
  const missing = view.slots.filter(({ pod }) => pod === undefined || !isUp(pod)).length;
  const left = mostMissing - (missing - useless.length);
  return [
    ...useless.slice(0, Math.max(0, left)),
    ...targets.filter(isUp).slice(0, Math.max(0, left - useless.length)),
  ];
}

function isOld(pod: Pod, { update }: SetView): boolean {
  return revisionOf(pod) !== update.metadata.name;
}

/** Delay until the next ready pod becomes available. */
export function nextUsableMs({ set, pods, now }: SetView): number | undefined {
  let soonest: number | undefined;
  for (const pod of pods) {
    const at = findAvailableAt(pod, set.spec.minReadySeconds ?? 0);
    if (at !== undefined && at > now && (soonest === undefined || at < soonest)) soonest = at;
  }
  return soonest === undefined ? undefined : soonest - now;
}
