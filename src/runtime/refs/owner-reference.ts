/** Owner references and the controller of an object. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";

/** The reference to the owner that controls the object; undefined when it has none. */
export function controllerOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True when exactly this owner (compared by uid) controls the object. */
export function isControlledBy(object: ApiObject, owner: ApiObject): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/**
 * Owner reference with `controller` set. `blockOwnerDeletion` keeps the owner during foreground deletion until the
 * object is gone.
 */
export function ownerReferenceTo(owner: ApiObject): OwnerReference {
  const { name = "", uid = "" } = owner.metadata;
  const { apiVersion, kind } = owner;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** True when the reference names an object of this kind, in any version of its group. */
export function isOfType({ apiVersion, kind }: OwnerReference, type: ResourceType): boolean {
  return kind === type.kind && groupOf(apiVersion) === groupOf(type.apiVersion);
}

/** Group without version: an owner may be referenced by any version. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
