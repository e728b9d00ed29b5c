/**
 * The client as programs see it. `client(Pod)` has all operations on pods. `client.with({…})` is the same client with
 * another identity, for example that of a reconcile.
 *
 * Every call rejects with an ApiError when the server returns an error; test it with `isApiError(error, "Conflict")`.
 * An aborted call rejects with the reason of its signal.
 */
import type { ApiObject, Manifest, ObjectKey, ResourceType } from "../api/api-object.ts";
import type { Scale } from "../api/generated/types/autoscaling-v1.ts";
import type { ResponseForm } from "./transport.ts";

/** Client of a Kubernetes API server. `client(Pod)` returns the operations on a kind. */
export interface Client {
  <T extends ApiObject>(type: ResourceType<T>): ResourceClient<T>;
  /** Server-side apply of an object of any kind, built-in or found by discovery. */
  apply(
    manifest: Manifest<ApiObject> & Pick<ApiObject, "apiVersion" | "kind">,
    options?: ApplyOptions,
  ): Promise<ApiObject>;
  /** A client with this identity; omitted fields keep their values. */
  with(identity: ClientIdentity): Client;
  /** Sends a request to any path of the API, for example `/version`, and returns the decoded body. */
  request(request: RawRequest): Promise<unknown>;
  /** The kind that the server serves under this name, found by discovery; undefined when it serves none. */
  findType(apiVersion: string, kind: string): Promise<ResourceType | undefined>;
}

/** Identity of a client's requests. Omitted fields keep their values. */
export interface ClientIdentity {
  /** Field manager of the writes. */
  readonly fieldManager?: string;
  /**
   * Id of the pass or operation that causes the writes, or a function that returns the text of the cause when a write
   * is sent.
   */
  readonly cause?: string | (() => string);
  /** Aborts the requests of the client. */
  readonly signal?: AbortSignal;
  /** Called with each object that a write of this client returned, before the write's promise settles. */
  readonly onWrite?: (written: WriteResult) => void;
  /** Called with each object that was read by name, and with a known object that turned out to be gone. */
  readonly onRead?: (read: WriteResult) => void;
  /** Called with the target of a write whose outcome is unknown, before the write's promise rejects. */
  readonly onUnknown?: (write: UnknownWrite) => void;
}

/** A write without a conclusive response: the connection broke, or the server failed. It may have been carried out. */
export interface UnknownWrite {
  readonly type: ResourceType;
  /** Undefined for a generated name and for the deletion of a collection. */
  readonly name: string | undefined;
  /** Empty for a cluster-scoped kind, and for a collection in all namespaces. */
  readonly namespace: string;
}

/** The result of a write, or of a read of one object. */
export interface WriteResult {
  readonly type: ResourceType;
  /**
   * The object as the server returned it. For a deleted object its last state, or the reference that the writer
   * passed.
   */
  readonly object: ApiObject;
  /**
   * `stored`: the object exists. `marked`: only its deletionTimestamp is set. `deleted`: the write deleted it.
   * `absent`: it did not exist.
   */
  readonly outcome: "stored" | "marked" | "deleted" | "absent";
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of writes. */
export interface WriteOptions extends CallOptions {
  /** `All` validates the write without storing it. Default: the write is stored. */
  readonly dryRun?: "All";
  /** Field manager of this write. Default: that of the client. */
  readonly fieldManager?: string;
  /** Handling of unknown and duplicate fields. Default: the server's, `Warn`. */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

/** Options of server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that other managers own, instead of failing with a Conflict. Default: false. */
  readonly force?: boolean;
  /** Subresource to apply to, for example `status`. Default: the object itself. */
  readonly subresource?: string;
}

/** Options of reads. */
export interface GetOptions extends CallOptions {
  /**
   * The result is not older than this version. With `Exact` it is exactly that version (Setpoint only). Default: the
   * newest state.
   */
  readonly resourceVersion?: string;
  /** How `resourceVersion` is compared. Default: the server's. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Reads metadata only: objects are returned as PartialObjectMetadata. Default: whole objects. */
  readonly form?: "metadata";
}

/** Options of lists. */
export interface ListOptions extends GetOptions {
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** For example `app=web,tier!=cache`. Default: all objects. */
  readonly labelSelector?: string;
  /** For example `spec.nodeName=node-1`. Default: all objects. */
  readonly fieldSelector?: string;
  /** Upper bound of objects in the response. Default: none. */
  readonly limit?: number;
  /** Continue token of the previous page. */
  readonly continue?: string;
}

/** Options of watches. */
export interface WatchOptions extends Omit<ListOptions, "limit" | "continue"> {
  /** Lets the server send bookmarks. Default: false. */
  readonly allowBookmarks?: boolean;
  /** Starts with an ADDED event for each existing object, then a bookmark with `isInitialEnd`. Default: false. */
  readonly sendInitialEvents?: boolean;
  /** Time after which the server ends the watch, in seconds. Default: the server's. */
  readonly timeoutSeconds?: number;
}

/** Options of deletions. */
export interface DeleteOptions extends CallOptions {
  /** Fate of the dependents. Default: that of the kind, mostly `Background`. */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Time for a graceful shutdown, in seconds. Default: that of the kind. */
  readonly gracePeriodSeconds?: number;
  /**
   * The deletion fails with a Conflict unless the object has this uid and version. Default: the uid of a passed
   * object.
   */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** `All` validates the deletion without storing it. Default: the object is deleted. */
  readonly dryRun?: "All";
}

/** A page of objects. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly metadata: {
    readonly resourceVersion: string;
    /** Token of the next page; missing on the last one. */
    readonly continue?: string;
    /** Number of objects on later pages, if the server reports it. */
    readonly remainingItemCount?: number;
  };
}

/** An event of a watch. `isInitialEnd` marks the end of the initial events. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly isInitialEnd: boolean };

/** Body of a patch. */
export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  /** JSON merge patch; null removes a member. */
  | { readonly type: "merge"; readonly changes: unknown }
  /** Strategic merge patch; built-in kinds only. */
  | { readonly type: "strategic"; readonly changes: unknown };

/** An operation of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  /** JSON pointer, for example `/metadata/labels/app`. */
  readonly path: string;
  /** Source of `move` and `copy`, as a JSON pointer. */
  readonly from?: string;
  readonly value?: unknown;
}

/** Options of patches. */
export interface PatchOptions extends WriteOptions {
  /** Subresource to patch, for example `status`. Default: the object itself. */
  readonly subresource?: string;
}

/** Namespace and name of an object, or the object itself. */
export type Reference<T extends ApiObject> = ObjectKey | T;

/** Operations on one kind. */
export interface ResourceClient<T extends ApiObject> {
  readonly type: ResourceType<T>;
  /** Rejects with NotFound when the object does not exist. */
  get(reference: Reference<T>, options?: GetOptions): Promise<T>;
  /** Undefined when the object does not exist. Rejects with NotFound when the server does not serve the kind. */
  find(reference: Reference<T>, options?: GetOptions): Promise<T | undefined>;
  /** One page of objects; all of them without `limit`. */
  list(options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * All objects at one revision, in pages of `limit` (default: 500). When a continue token expires, the list starts
   * over.
   */
  pages(options?: ListOptions): AsyncIterable<ObjectList<T>>;
  /**
   * Batches of events. Ends when the server ends the watch; an ERROR event rejects with its ApiError (`Expired`,
   * `Gone`).
   */
  watch(options?: WatchOptions): Promise<AsyncIterable<readonly WatchEvent<T>[]>>;

  /** Creates the object and returns it as stored. */
  create(manifest: Manifest<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the object. Rejects with Conflict when it has changed since it was read. */
  update(object: T, options?: WriteOptions): Promise<T>;
  /** Writes the status of an object that was read. Its resourceVersion guards the write. */
  updateStatus(object: T, status: unknown, options?: WriteOptions): Promise<T>;
  /** Patches the object and returns it as stored. */
  patch(reference: Reference<T>, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Server-side apply: creates the object or merges the manifest into it. */
  apply(manifest: Manifest<T>, options?: ApplyOptions): Promise<T>;
  /** Deletes the object. For an object that was read, its uid is a precondition: a namesake is not deleted. */
  delete(reference: Reference<T>, options?: DeleteOptions): Promise<void>;
  /**
   * Deletes all objects that match; without options those of all namespaces. Without a `limit` it deletes them in pages,
   * as they were when it began: objects that are created meanwhile may stay.
   */
  deleteCollection(options?: ListOptions & DeleteOptions): Promise<void>;

  /** Sets the replicas through the `scale` subresource. */
  scale(reference: Reference<T>, replicas: number, options?: WriteOptions): Promise<Scale>;
  /** Subresources with bodies of their own: eviction, binding, token, approval, ephemeralcontainers, resize … */
  subresource(name: string): SubresourceClient<T>;
  /** Streams a container's log as bytes. */
  logs(reference: Reference<T>, options?: LogOptions): Promise<AsyncIterable<Uint8Array>>;
}

/** Operations on one subresource. */
export interface SubresourceClient<T extends ApiObject> {
  get(reference: Reference<T>, options?: CallOptions): Promise<unknown>;
  create(reference: Reference<T>, body: unknown, options?: WriteOptions): Promise<unknown>;
  update(reference: Reference<T>, body: unknown, options?: WriteOptions): Promise<unknown>;
  patch(reference: Reference<T>, patch: Patch, options?: WriteOptions): Promise<unknown>;
}

/** Options of `logs`. */
export interface LogOptions extends CallOptions {
  /** Default: the only container of the pod. */
  readonly container?: string;
  /** Streams new lines until the container ends. Default: false. */
  readonly follow?: boolean;
  /** Reads the log of the previous run of the container. Default: false. */
  readonly previous?: boolean;
  /** Prefixes each line with its time. Default: false. */
  readonly timestamps?: boolean;
  /** Upper bound of lines, from the end of the log. Default: all lines. */
  readonly tailLines?: number;
  /** Reads lines of the last seconds only. Default: all lines. */
  readonly sinceSeconds?: number;
  /** Upper bound of bytes. Default: none. */
  readonly limitBytes?: number;
}

/** A request to any path of the API. */
export interface RawRequest extends CallOptions {
  /** Form of the response. Default: `object`. */
  readonly form?: ResponseForm;
  /** Default: `GET`. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute path on the server, for example `/version`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Media type of the body. Default: JSON. */
  readonly contentType?: string;
}
