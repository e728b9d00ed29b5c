/** The shape that all API objects share, and the constants that identify a kind to clients. */
import type { ObjectMeta } from "./generated/types/meta-v1.ts";

/** Any object of the API. */
export type ApiObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/**
 * A kind as a value that programs pass: `client(Pod)`, `for: ReplicaSet`. The values of built-in kinds are exported
 * beside their types, so that one import gives both. `defineResource` makes the value for a custom resource.
 */
export interface ResourceType<T extends ApiObject = ApiObject> {
  /** API group and version: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Resource name in URLs: `pods`, `deployments`. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set at run time; carries the object's type `T`. */
  readonly object?: T;
}

/** Name and namespace of an object. The namespace is empty or absent for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * An object as a client writes it. Fields that the server fills in are optional at any depth. The kind's own type
 * describes the server's response.
 */
export type Manifest<T> = Unfinished<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  readonly apiVersion?: T extends ApiObject ? T["apiVersion"] : never;
  readonly kind?: T extends ApiObject ? T["kind"] : never;
  readonly metadata?: Unfinished<ObjectMeta> | undefined;
};

/** Makes every member of an object optional, at any depth. List items may be incomplete, but not undefined. */
export type Unfinished<T> = T extends readonly (infer Item)[]
  ? readonly Unfinished<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Unfinished<T[Key]> | undefined }
    : T;

/**
 * URL path of a collection: all objects of the kind, or only those of `namespace` if it is given. Example:
 * `/apis/apps/v1/namespaces/default/deployments`.
 */
export function collectionPath({ apiVersion, plural, namespaced }: ResourceType, namespace = ""): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const isWithin = namespaced && namespace !== "";
  return isWithin ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
}

/** URL path of one object: `/apis/apps/v1/namespaces/default/deployments/web`. */
export function objectPath(type: ResourceType, { namespace, name }: ObjectKey): string {
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}`;
}
