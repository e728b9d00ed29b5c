/** Observed state of a StatefulSet: the pod of each ordinal, and pods outside the range. */
import type { ControllerRevision, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { findAvailableAt, isReady } from "../../resources/pod/pod-state.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";

/** Upper bound of creations or deletions in one pass of a parallel set. It keeps one huge set from starving others. */
export const BATCH_MAX = 500;

export interface SetView {
  readonly set: StatefulSet;
  readonly now: number;
  readonly pods: readonly Pod[];
  /** Sorted by ordinal. In a very large set, cut to the existing pods plus one batch. */
  readonly slots: readonly Slot[];
  /** Pods outside the range, highest ordinal first: the order of deletion. */
  readonly condemned: readonly Pod[];
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

export interface Slot {
  readonly ordinal: number;
  readonly pod: Pod | undefined;
}

export function viewOf(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update, now }: Pick<SetView, "current" | "update" | "now">,
): SetView {
  const start = startOf(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod, set) ?? -1, pod]));
  const slots = Array.from({ length: Math.min(wantedOf(set), pods.length + BATCH_MAX) }, (_, at) => ({
    ordinal: start + at,
    pod: byOrdinal.get(start + at),
  }));
  const condemned = pods
    .filter((pod) => !isInRange(ordinalOf(pod, set) ?? -1, set))
    .toSorted((left, right) => (ordinalOf(right, set) ?? 0) - (ordinalOf(left, set) ?? 0));
  return { set, now, pods, slots, condemned, current, update };
}

export function wantedOf({ spec }: StatefulSet): number {
  return spec.replicas ?? 1;
}

export function startOf({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

/** Undefined if the name does not belong to the set. */
export function ordinalOf({ metadata }: Pod, set: StatefulSet): number | undefined {
  const prefix = `${set.metadata.name}-`;
  if (!metadata.name.startsWith(prefix)) return undefined;
  const text = metadata.name.slice(prefix.length);
  return /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

export function isInRange(ordinal: number, set: StatefulSet): boolean {
  return ordinal >= startOf(set) && ordinal < startOf(set) + wantedOf(set);
}

export function isBeingDeleted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status.phase === "Running" && isReady(pod);
}

export function isUsable(pod: Pod, { set, now }: Pick<SetView, "set" | "now">): boolean {
  const availableAt = findAvailableAt(pod, set.spec.minReadySeconds ?? 0);
  return isRunningAndReady(pod) && availableAt !== undefined && availableAt <= now;
}

export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[REVISION_HASH];
}
