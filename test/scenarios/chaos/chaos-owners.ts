/** Dependents of deleted owners, at every revision: a pure function over a history. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type { Change } from "./chaos-history.ts";

/** Age of a dependent, at the deletion of its owner, that rules out a stale cache. */
const KNOWN_MS = 60_000;

interface Known {
  readonly object: ApiObject;
  readonly since: number;
}

/** An orphaned dependent no longer names an owner that is gone; a blocking dependent is gone before its owner. */
export function brokenDeletions(changes: readonly Change[]): readonly string[] {
  const found: string[] = [];
  const live = new Map<string, Known>();
  const began = new Map<string, number>();
  for (const change of changes) {
    const { key, before, after, at } = change;
    if (after === undefined) {
      live.delete(key);
      const since = began.get(before?.metadata.uid ?? "") ?? at;
      found.push(...leftAfter(change, live, since));
      continue;
    }
    const { uid = "", deletionTimestamp } = after.metadata;
    live.set(key, { object: after, since: live.get(key)?.since ?? at });
    if (deletionTimestamp !== undefined && !began.has(uid)) began.set(uid, at);
  }
  return found;
}

/** Dependents left in a wrong state by the end of an owner at this change; its deletion began at `began`. */
function leftAfter(
  { key, before, revision }: Change,
  live: ReadonlyMap<string, Known>,
  began: number,
): readonly string[] {
  const { uid = "", finalizers = [] } = before?.metadata ?? {};
  const found: string[] = [];
  for (const [other, { object, since }] of live) {
    const what = since > began - KNOWN_MS ? undefined : leftBehind(object, uid, finalizers);
    if (what !== undefined) found.push(`${other} ${what} ${key} (revision ${String(revision)})`);
  }
  return found;
}

function leftBehind(dependent: ApiObject, uid: string, finalizers: readonly string[]): string | undefined {
  const reference = dependent.metadata.ownerReferences?.find((each) => each.uid === uid);
  if (reference === undefined) return undefined;
  if (finalizers.includes("orphan")) return "still belongs to what left it behind,";
  if (finalizers.includes("foregroundDeletion") && reference.blockOwnerDeletion === true)
    return "has outlived what it blocks,";
  return undefined;
}
