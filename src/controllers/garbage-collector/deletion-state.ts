/** What an object's own metadata say about its deletion. */
import type { ApiObject } from "../../api/api-object.ts";

/** Holds an object until its dependents that block it are gone. */
export const FOREGROUND = "foregroundDeletion";
/** Holds an object until its dependents have let go of it. */
export const ORPHAN = "orphan";

export function isBeingDeleted({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isDeletingDependents(object: ApiObject): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, FOREGROUND);
}

export function isOrphaning(object: ApiObject): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, ORPHAN);
}

export function hasFinalizer({ metadata }: ApiObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}
