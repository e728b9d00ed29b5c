/** Who controls whom. */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";

/** The reference to the one owner that controls the object, if it has one. */
export function controllerOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Controlled by this very object, not by another of the same name. */
export function isControlledBy(object: ApiObject, owner: ApiObject): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/** As the controlling owner, which is not gone before the object is when it is deleted in the foreground. */
export function ownerReferenceTo(owner: ApiObject): OwnerReference {
  const { name = "", uid = "" } = owner.metadata;
  const { apiVersion, kind } = owner;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Without version: an owner may be referred to by any of them. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
