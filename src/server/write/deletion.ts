/** What becomes of an object whose deletion is asked for: removed at once, or marked and removed once nothing holds it. */
import { cloneJson } from "../../api/json/json-clone.ts";
import { withSortedKeys } from "../../api/json/json-object.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import { timeText } from "./system-metadata.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeletionRequest {
  readonly graceSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly now: number;
}

export type DeletionPlan =
  | { readonly outcome: "remove" }
  | { readonly outcome: "mark"; readonly object: ApiObject }
  /** First the one, then the other: those who watch see it marked, with no time left, before it is gone. */
  | { readonly outcome: "mark and remove"; readonly object: ApiObject }
  /** It is being deleted already, no later than asked for now. */
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
  // What was decided of its dependents stays with the period that runs.
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

/** With the one that a kind adds when its deletion is first asked for. */
function presentFinalizers({ metadata }: ApiObject, { rules }: StoredResource): readonly string[] {
  const { finalizers = [], deletionTimestamp } = metadata;
  const own = rules.deletionFinalizer;
  if (own === undefined || deletionTimestamp !== undefined || finalizers.includes(own)) return finalizers;
  return [...finalizers, own];
}

/**
 * Kinds without a grace period of their own go at once, whatever is asked for. Once one has begun, the kind is not asked again: whoever names a
 * shorter one gets it, and one that has run out does not come back.
 */
function graceFor(object: ApiObject, { rules }: StoredResource, asked: number | undefined): number {
  if (object.metadata.deletionTimestamp === undefined)
    return Math.max(0, rules.gracePeriodSeconds?.(object, asked) ?? 0);
  const running = runningGrace(object);
  if (running === 0 || asked === undefined) return running;
  // A negative period means as soon as possible.
  return asked < 0 ? 1 : asked;
}

/** A period that is shortened to one that is over already still has a second left: whoever ends the object has to see it. */
function notYetOver(object: ApiObject, grace: number, now: number): number {
  const isShortened = grace > 0 && grace < runningGrace(object);
  return isShortened && endOf(object, grace) < now ? 1 : grace;
}

/** What an earlier request gave it; none when it is not being deleted, or nothing but finalizers hold it. */
function runningGrace({ metadata }: ApiObject): number {
  return metadata.deletionTimestamp === undefined ? 0 : (metadata.deletionGracePeriodSeconds ?? 0);
}

/** Nothing would change: the mark is there, with the same finalizers and grace period. */
function isMarkedAlready(object: ApiObject, finalizers: readonly string[], grace: number): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) return false;
  return grace === runningGrace(object) && sameItems(finalizers, metadata.finalizers ?? []);
}

/** Once the last finalizer is gone and no grace period runs, an update is the end of a marked object. */
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
  // As upstream: a kind that marks itself has no period, and no generation begins with it.
  const isOwn = isFirst && resource.rules.markDeleted !== undefined;
  const isNewGeneration = isFirst && !isOwn && resource.storage.hasGeneration;
  // In the one order of keys, or the next write that changes nothing would look like a change.
  const marks = withSortedKeys({
    ...others,
    ...(finalizers.length > 0 && { finalizers }),
    ...(isNewGeneration && { generation: (metadata.generation ?? 0) + 1 }),
    deletionTimestamp: deletionTime(object, grace, now),
    ...(!isOwn && { deletionGracePeriodSeconds: grace }),
  });
  return { ...draft, metadata: marks as unknown as ApiObject["metadata"] };
}

/** The last second that can be written: a period may be as long as a client likes. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);

/** When the grace period ends; a shorter one counts from the time of the first request, and does not end in the past. */
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
 * Nobody looks after the dependents of kinds that have none: finalizers for it would hold them forever. What is asked for counts before what
 * finalizers say already, and that before what is usual for the kind.
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

/** The garbage collector reads the policy off these finalizers. */
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
