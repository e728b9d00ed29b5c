/** Decides the collector's action on an object from the states of its owners. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { DeleteOptions } from "../../client/client.ts";
import { FOREGROUND, hasFinalizer, isDeletingDependents, ORPHAN } from "./deletion-state.ts";

/**
 * `solid`: the owner exists and does not wait for dependents. `waiting`: it is being deleted in the foreground. `dangling`: it does not
 * exist; another object may have its name.
 */
export type OwnerState = "solid" | "waiting" | "dangling";

export interface OwnerWithState {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type Policy = NonNullable<DeleteOptions["propagationPolicy"]>;

export type CollectorAction =
  | { readonly type: "keep" }
  /** Some owners are left: the references to the others are removed. */
  | { readonly type: "release"; readonly uids: readonly string[] }
  /** `unblocks`: the object first stops blocking its owners, as it is part of a cycle of waiting objects. */
  | { readonly type: "delete"; readonly policy: Policy; readonly unblocks: boolean };

export function planAction(
  object: ApiObject,
  owners: readonly OwnerWithState[],
  dependents: readonly ApiObject[],
): CollectorAction {
  const gone = owners.filter(({ state }) => state !== "solid");
  if (gone.length === 0) return { type: "keep" };
  if (gone.length < owners.length)
    return { type: "release", uids: gone.map(({ reference }) => reference.uid) };
  const isAwaited = owners.some(({ state }) => state === "waiting");
  if (isAwaited && dependents.length > 0)
    return { type: "delete", policy: "Foreground", unblocks: dependents.some(isDeletingDependents) };
  return { type: "delete", policy: policyOf(object), unblocks: false };
}

/** Finalizers set before the deletion determine the propagation policy. */
function policyOf(object: ApiObject): Policy {
  if (hasFinalizer(object, ORPHAN)) return "Orphan";
  return hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";
}
