/**
 * Plans the deletion of an object: remove it at once, or mark it and remove it once no finalizer or grace period is
 * left.
 */
import { cloneJson } from "../../api/json/json-clone.ts";
import { withSortedKeys } from "../../api/json/json-object.ts";
import { timeText } from "../../api/values/time.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeletionRequest {
  readonly graceSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly now: number;
}

export type DeletionPlan =
  | { readonly outcome: "remove" }
  | { readonly outcome: "mark"; readonly object: ApiObject }
  /** Two writes, so that watchers see the mark without remaining grace before the object is gone. */
  | { readonly outcome: "mark and remove"; readonly object: ApiObject }
  /** The object is in deletion already and ends no later than this request asks. */
  | { readonly outcome: "unchanged" };

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

export function planDeletion(
  object: ApiObject,
  resource: StoredResource,
  request: DeletionRequest,
): DeletionPlan {
  const running = runningGrace(object);
  const grace = notYetOver(object, graceFor(object, resource, request.graceSeconds), request.now);
  // The dependents keep the policy of the earlier request while its grace period runs.
  if (running > 0 && grace >= running) return { outcome: "unchanged" };
  const present = presentFinalizers(object, resource);
  const finalizers = finalizersFor(present, propagationFor(present, resource, request));
  if (isMarkedAlready(object, finalizers, grace)) {
    return isFinished(object, resource) ? { outcome: "remove" } : { outcome: "unchanged" };
  }
  const isFree = finalizers.length === 0 && grace === 0 && !isHeld(object, resource);
  const hasGrace = resource.rules.gracePeriodSeconds !== undefined;
  const isOver = object.metadata.deletionTimestamp !== undefined && running === 0;
  if (isFree && (!hasGrace || isOver)) return { outcome: "remove" };
  const next = marked(object, { finalizers, grace, now: request.now, resource });
  return { outcome: isFree ? "mark and remove" : "mark", object: next };
}

/** The finalizers of the object, with the one that its kind adds on the first delete. */
function presentFinalizers({ metadata }: ApiObject, { rules }: StoredResource): readonly string[] {
  const { finalizers = [], deletionTimestamp } = metadata;
  const own = rules.deletionFinalizer;
  if (own === undefined || deletionTimestamp !== undefined || finalizers.includes(own)) return finalizers;
  return [...finalizers, own];
}

/**
 * Grace period in seconds. Kinds without one are removed at once. After the first request the kind's rule no longer
 * counts: a client may shorten the period, and an expired period does not start again.
 */
function graceFor(object: ApiObject, { rules }: StoredResource, asked: number | undefined): number {
  if (object.metadata.deletionTimestamp === undefined)
    return Math.max(0, rules.gracePeriodSeconds?.(object, asked) ?? 0);
  const running = runningGrace(object);
  if (running === 0 || asked === undefined) return running;
  // A negative period means as soon as possible.
  return asked < 0 ? 1 : asked;
}

/** A shortened period that is over already still gets one second, so that the kubelet sees the change. */
function notYetOver(object: ApiObject, grace: number, now: number): number {
  const isShortened = grace > 0 && grace < runningGrace(object);
  return isShortened && endOf(object, grace) < now ? 1 : grace;
}

/** Grace period of an earlier request. Zero if the object is not in deletion, or if only finalizers hold it. */
function runningGrace({ metadata }: ApiObject): number {
  return metadata.deletionTimestamp === undefined ? 0 : (metadata.deletionGracePeriodSeconds ?? 0);
}

/** Whether the object has the same mark, finalizers and grace period already. */
function isMarkedAlready(object: ApiObject, finalizers: readonly string[], grace: number): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) return false;
  return grace === runningGrace(object) && sameItems(finalizers, metadata.finalizers ?? []);
}

/** Whether an update ends a marked object: no finalizer, no grace period and no rule of its kind holds it. */
export function isFinished(object: ApiObject, resource: StoredResource): boolean {
  const { metadata } = object;
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).length === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    !isHeld(object, resource)
  );
}

function isHeld(object: ApiObject, { rules }: StoredResource): boolean {
  return rules.isHeld?.(object) ?? false;
}

interface Mark {
  readonly finalizers: readonly string[];
  readonly grace: number;
  readonly now: number;
  readonly resource: StoredResource;
}

function marked(object: ApiObject, { finalizers, grace, now, resource }: Mark): ApiObject {
  const { metadata } = object;
  const isFirst = metadata.deletionTimestamp === undefined;
  const { finalizers: _, ...others } = metadata;
  const draft = cloneJson(object) as Draft<ApiObject>;
  resource.rules.markDeleted?.(draft, now);
  // As upstream: a kind that marks itself gets no grace period and no new generation.
  const isOwn = isFirst && resource.rules.markDeleted !== undefined;
  const isNewGeneration = isFirst && !isOwn && resource.storage.hasGeneration;
  // Keys in normal order; otherwise the next no-op write would look like a change.
  const marks = withSortedKeys({
    ...others,
    ...(finalizers.length > 0 && { finalizers }),
    ...(isNewGeneration && { generation: (metadata.generation ?? 0) + 1 }),
    deletionTimestamp: deletionTime(object, grace, now),
    ...(!isOwn && { deletionGracePeriodSeconds: grace }),
  });
  return { ...draft, metadata: marks };
}

/** The latest time that RFC 3339 can express. Clients may ask for a period of any length. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);

/** End of the grace period. A shorter one counts from the first request and does not end in the past. */
function deletionTime(object: ApiObject, grace: number, now: number): string {
  const { deletionTimestamp } = object.metadata;
  if (deletionTimestamp === undefined) return timeText(Math.min(now + grace * 1000, LATEST));
  if (runningGrace(object) === 0) return deletionTimestamp;
  return timeText(Math.max(endOf(object, grace), now));
}

function endOf({ metadata }: ApiObject, grace: number): number {
  const shorterBy = (metadata.deletionGracePeriodSeconds ?? 0) - grace;
  return Date.parse(metadata.deletionTimestamp ?? "") - shorterBy * 1000;
}

/**
 * Policy for the dependents. Kinds without dependents use Background, because no controller would remove a finalizer.
 * The request comes first, then the present finalizers, then the default of the kind.
 */
function propagationFor(
  present: readonly string[],
  { rules }: StoredResource,
  { propagation }: DeletionRequest,
): Propagation | undefined {
  if (rules.hasNoDependents === true) return "Background";
  if (propagation !== undefined || rules.keepsDependents !== true) return propagation;
  return present.includes(ORPHAN) || present.includes(FOREGROUND) ? undefined : "Orphan";
}

/** The garbage collector reads the policy from these finalizers. */
function finalizersFor(present: readonly string[], propagation: Propagation | undefined): readonly string[] {
  if (propagation === undefined) return present;
  const others = present.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  switch (propagation) {
    case "Background":
      return others;
    case "Foreground":
      return [...others, FOREGROUND];
    case "Orphan":
      return [...others, ORPHAN];
  }
}

function sameItems(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item) => right.includes(item));
}
