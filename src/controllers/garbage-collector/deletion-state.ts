/** Reads the state of an object's deletion from its metadata. */
import type { ApiObject } from "../../api/api-object.ts";

/** Finalizer that keeps an object until its blocking dependents are gone. */
export const FOREGROUND = "foregroundDeletion";
/** Finalizer that keeps an object until its dependents no longer refer to it. */
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
