/** Reference of an Event to its object. */
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectReference } from "../../api/generated/types/core-v1.ts";

export function referenceTo({ apiVersion, kind, metadata }: ApiObject, fieldPath?: string): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(fieldPath === undefined ? {} : { fieldPath }),
  };
}
