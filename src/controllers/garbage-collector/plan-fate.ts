/** What becomes of an object that has owners, given how each of them stands. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { DeleteOptions } from "../../client/client.ts";
import { FOREGROUND, hasFinalizer, isDeletingDependents, ORPHAN } from "./deletion-state.ts";

/**
 * `solid`: the owner is there and stays, or goes in its own time. `waiting`: it is on its way out and waits for its dependents.
 * `dangling`: there is no such object, whatever lies at its place by now.
 */
export type Standing = "solid" | "waiting" | "dangling";

export interface StandingOwner {
  readonly reference: OwnerReference;
  readonly standing: Standing;
}

export type Policy = NonNullable<DeleteOptions["propagationPolicy"]>;

export type Fate =
  | { readonly type: "keep" }
  /** It has an owner left: it lets go of the others. */
  | { readonly type: "release"; readonly uids: readonly string[] }
  /** With `unblocks` it no longer holds up its owners first: it is part of a circle in which each waits for the next. */
  | { readonly type: "delete"; readonly policy: Policy; readonly unblocks: boolean };

export function planFate(
  object: ApiObject,
  owners: readonly StandingOwner[],
  dependents: readonly ApiObject[],
): Fate {
  const gone = owners.filter(({ standing }) => standing !== "solid");
  if (gone.length === 0) return { type: "keep" };
  if (gone.length < owners.length)
    return { type: "release", uids: gone.map(({ reference }) => reference.uid) };
  const isAwaited = owners.some(({ standing }) => standing === "waiting");
  if (isAwaited && dependents.length > 0)
    return { type: "delete", policy: "Foreground", unblocks: dependents.some(isDeletingDependents) };
  return { type: "delete", policy: policyOf(object), unblocks: false };
}

/** Finalizers that were put on the object beforehand say what shall become of its dependents. */
function policyOf(object: ApiObject): Policy {
  if (hasFinalizer(object, ORPHAN)) return "Orphan";
  return hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";
}
