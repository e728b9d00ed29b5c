/** How objects are kept in a cache: whole, without managedFields, or as a projection. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";

/** Part of an object. Kind and identity, labels and owners are kept whatever it leaves out. */
export type Projection<T extends ApiObject> = (object: T) => T;

export interface ShapeOptions {
  readonly type: ResourceType;
  readonly form: "object" | "metadata";
  /** Costs memory where objects came over a network; where they are the server's own, leaving a part out would. */
  readonly keepsManagedFields: boolean;
  readonly project: Projection<ApiObject> | undefined;
  readonly log: Log;
}

export function shapeOf({
  type,
  form,
  keepsManagedFields,
  project,
  log,
}: ShapeOptions): Projection<ApiObject> {
  const named = namedShape(
    form === "object" ? type : { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" },
  );
  const kept: Projection<ApiObject> = keepsManagedFields
    ? named
    : (object) => withoutManagedFields(named(object));
  if (project === undefined) return kept;
  return (object) => projected(kept(object), project, log);
}

/** Items of a list come without their kind. */
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

/** A projection that fails keeps the whole object: a cache with a gap would be worse than a larger one. */
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
    log.error("a projection failed, the whole object is kept", { kind: object.kind, namespace, name, error });
    return object;
  }
}
