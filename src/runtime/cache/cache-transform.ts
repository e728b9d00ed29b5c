/** Form of cached objects: whole, without managedFields, or as a projection. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";

/** Returns the part of an object to be cached. Kind, identity, labels and owner references are kept in any case. */
export type Projection<T extends ApiObject> = (object: T) => T;

export interface TransformOptions {
  readonly type: ResourceType;
  readonly form: "object" | "metadata";
  /**
   * False saves memory for objects from a network. True shares the objects of a server in the same process; a copy
   * without the fields would cost memory.
   */
  readonly keepsManagedFields: boolean;
  readonly project: Projection<ApiObject> | undefined;
  readonly log: Log;
}

export function transformOf({
  type,
  form,
  keepsManagedFields,
  project,
  log,
}: TransformOptions): Projection<ApiObject> {
  const named = namedShape(
    form === "object" ? type : { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" },
  );
  const kept: Projection<ApiObject> = keepsManagedFields
    ? named
    : (object) => withoutManagedFields(named(object));
  if (project === undefined) return kept;
  return (object) => projected(kept(object), project, log);
}

/** Adds apiVersion and kind, which the items of a list lack. */
function namedShape({ apiVersion, kind }: Pick<ResourceType, "apiVersion" | "kind">): Projection<ApiObject> {
  return (object) => {
    const isNamed = (object as Partial<ApiObject>).kind !== undefined;
    return isNamed ? object : { ...object, apiVersion, kind };
  };
}

function withoutManagedFields(object: ApiObject): ApiObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A projection that throws keeps the whole object: a missing object would be worse than a large one. */
function projected(object: ApiObject, project: Projection<ApiObject>, log: Log): ApiObject {
  try {
    const { apiVersion, kind, metadata: whole } = object;
    const part = project(object);
    const { name, namespace, uid, resourceVersion, labels, ownerReferences } = whole;
    const identity = { name, namespace, uid, resourceVersion, labels, ownerReferences };
    const metadata = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
    return { ...part, apiVersion, kind, metadata: { ...part.metadata, ...metadata } };
  } catch (error) {
    const { namespace, name } = object.metadata;
    log.error("a projection failed; the cache keeps the whole object", {
      kind: object.kind,
      namespace,
      name,
      error,
    });
    return object;
  }
}
