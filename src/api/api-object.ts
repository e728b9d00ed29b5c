/** What all objects of the API have in common, and what names a kind of them to clients. */
import type { ObjectMeta } from "./generated/types/meta-v1.ts";

/** Any object of the API. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/**
 * A kind as programs name it: `client(Pod)`, `for: ReplicaSet`. The built-in ones lie beside their types in `generated/types`, so that
 * one import gives both; `defineResource` makes those of users.
 */
export interface ResourceType<T extends ApiObject = ApiObject> {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** As in the URL. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: ties the type to the value. */
  readonly object?: T;
}

/** Where an object lies; the namespace is empty or left out for objects that have none. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * An object as somebody writes it: what the server fills in may be left out, at any depth. The kind's own type is what the
 * server answers.
 */
export type Manifest<T> = Unfinished<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  readonly apiVersion?: T extends ApiObject ? T["apiVersion"] : never;
  readonly kind?: T extends ApiObject ? T["kind"] : never;
  readonly metadata?: Unfinished<ObjectMeta> | undefined;
};

/** Lists keep their items whole in number, maps their values; everything else may be missing. */
type Unfinished<T> = T extends readonly (infer Item)[]
  ? readonly Unfinished<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Unfinished<T[Key]> | undefined }
    : T;

/** `pods` of `v1`, `deployments` of `apps/v1`: under this path all objects of the kind, or those of a namespace, are listed. */
export function collectionPath({ apiVersion, plural, namespaced }: ResourceType, namespace = ""): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const isWithin = namespaced && namespace !== "";
  return isWithin ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
}

export function objectPath(type: ResourceType, { namespace, name }: ObjectKey): string {
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}`;
}
