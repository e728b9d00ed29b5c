/**
 * The client as programs see it. `client(Pod)` is everything that can be done with pods; `client.with({…})` is the same client in
 * somebody's name, for instance a reconcile's.
 *
 * Every call rejects with an ApiError when the server refuses, tested with `isApiError(error, "Conflict")`, and with the reason of
 * the signal when that is aborted.
 */
import type { ApiObject, Manifest, ObjectKey, ResourceType } from "../api/api-object.ts";
import type { Scale } from "../api/generated/types/autoscaling-v1.ts";

export interface Client {
  <T extends ApiObject>(type: ResourceType<T>): ResourceClient<T>;
  /** Server-side apply of an object of any kind, built-in or found by discovery. */
  apply(
    manifest: Manifest<ApiObject> & Pick<ApiObject, "apiVersion" | "kind">,
    options?: ApplyOptions,
  ): Promise<ApiObject>;
  with(identity: ClientIdentity): Client;
  /** A request that no method above makes: other paths of the API, such as `/version`. */
  request(request: RawRequest): Promise<unknown>;
  /** The kind that is served under this name at the moment, found by discovery. Undefined when there is none. */
  findType(apiVersion: string, kind: string): Promise<ResourceType | undefined>;
}

/** In whose name requests are made; what is left out stays as it is. */
export interface ClientIdentity {
  /** Owns the fields that are written. */
  readonly fieldManager?: string;
  readonly cause?: string;
  readonly signal?: AbortSignal;
  /** Called with each object that a write of this client gave back, before the write's promise settles. */
  readonly onWrite?: (written: Written) => void;
  /** Called with each object that was read by its name, and with one that was known and is not there any more. */
  readonly onRead?: (read: Written) => void;
}

/** What the answer to a write, or to a look at one object, tells of it. */
export interface Written {
  readonly type: ResourceType;
  /** As the server answered it. When the object is gone, its last state, or what the writer knew of it. */
  readonly object: ApiObject;
  /** `deleted`: no longer there once the cache knows of it. `marked`: only its deletionTimestamp is set. `absent`: it was gone before. */
  readonly outcome: "stored" | "marked" | "deleted" | "absent";
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: "All";
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that others own instead of answering a conflict. */
  readonly force?: boolean;
  readonly subresource?: string;
}

export interface GetOptions extends CallOptions {
  /** Not older than this; with `Exact`, as it was then (Setpoint only). */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Only metadata is asked for: objects come as PartialObjectMetadata, whatever their kind. */
  readonly form?: "metadata";
}

export interface ListOptions extends GetOptions {
  /** All namespaces unless given. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  readonly allowBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: "All";
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  /** JSON merge patch: null removes. */
  | { readonly type: "merge"; readonly changes: unknown }
  /** Strategic merge patch; built-in kinds only. */
  | { readonly type: "strategic"; readonly changes: unknown };

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: string;
}

/** An object of the kind, or where one lies. Where an object is given, its namespace and name count. */
export type Reference<T extends ApiObject> = ObjectKey | T;

export interface ResourceClient<T extends ApiObject> {
  readonly type: ResourceType<T>;
  get(reference: Reference<T>, options?: GetOptions): Promise<T>;
  /** Undefined when there is no such object. */
  find(reference: Reference<T>, options?: GetOptions): Promise<T | undefined>;
  list(options?: ListOptions): Promise<ObjectList<T>>;
  /** All objects, read in pieces of `limit` (500 unless given) at one revision. An expired token begins anew. */
  pages(options?: ListOptions): AsyncIterable<ObjectList<T>>;
  /** Ends when the server ends it; an ERROR event rejects with its ApiError (`Expired`, `Gone`). */
  watch(options?: WatchOptions): Promise<AsyncIterable<readonly WatchEvent<T>[]>>;

  create(manifest: Manifest<T>, options?: WriteOptions): Promise<T>;
  /** Refused with Conflict when the object has changed since it was read. */
  update(object: T, options?: WriteOptions): Promise<T>;
  /** Writes the status of an object that was read, guarded by its resourceVersion. */
  updateStatus(object: T, status: unknown, options?: WriteOptions): Promise<T>;
  patch(reference: Reference<T>, patch: Patch, options?: PatchOptions): Promise<T>;
  apply(manifest: Manifest<T>, options?: ApplyOptions): Promise<T>;
  /** An object that was read is deleted only while it is still the same one (its uid is a precondition). */
  delete(reference: Reference<T>, options?: DeleteOptions): Promise<void>;
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<void>;

  scale(reference: Reference<T>, replicas: number, options?: WriteOptions): Promise<Scale>;
  /** Subresources with objects of their own: eviction, binding, token, approval, ephemeralcontainers, resize … */
  subresource(name: string): SubresourceClient<T>;
  /** Bytes of a container's log as they come. */
  logs(reference: Reference<T>, options?: LogOptions): Promise<AsyncIterable<Uint8Array>>;
}

export interface SubresourceClient<T extends ApiObject> {
  get(reference: Reference<T>, options?: CallOptions): Promise<unknown>;
  create(reference: Reference<T>, body: unknown, options?: WriteOptions): Promise<unknown>;
  update(reference: Reference<T>, body: unknown, options?: WriteOptions): Promise<unknown>;
  patch(reference: Reference<T>, patch: Patch, options?: WriteOptions): Promise<unknown>;
}

export interface LogOptions extends CallOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly limitBytes?: number;
}

export interface RawRequest extends CallOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}
