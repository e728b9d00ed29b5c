/**
 * Contract of admission plugins: input and allowed effects of a built-in plugin, a policy or a webhook. Built-in
 * plugins and policies are synchronous functions on server memory. Webhooks use `mutateLater` and `validateLater`. The
 * write is handed in only if the object is still the one that the plugins judged; otherwise the whole pass runs again.
 * `ready` awaits data that is needed only once.
 */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Random } from "../../base/loop/loop.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import type { ObjectLister } from "../objects/lister.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { RequestNotes } from "../request/request-notes.ts";

/** As AdmissionReview names them. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionRequest {
  readonly operation: Operation;
  /** Verb that was authorized. A CREATE may come by `patch`, a DELETE by `deletecollection`. */
  readonly verb: string;
  readonly resource: AdmittedResource;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Name of the object; the `generateName` prefix while its name is still to be generated. */
  readonly name: string;
  readonly user: Requester;
  /** The replaced or deleted object; undefined for a create. */
  readonly previous: ApiObject | undefined;
  readonly isDryRun: boolean;
  /** Builds CreateOptions, UpdateOptions or DeleteOptions on demand; undefined for a CONNECT. */
  readonly options?: (() => JsonObject) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly memory: ObjectLister;
  readonly random: Random;
  /** A webhook or a policy changed the object since this plugin saw it. */
  readonly isReinvocation: boolean;
  /** State of plugins between stages, keyed by plugin name. It lives as long as the pass. */
  readonly scratch: Map<string, unknown>;
  /** Managed fields, for webhooks and policies that see the object. */
  readonly owners?: ShownOwners | undefined;
  /** Collects warnings for the client and annotations for the audit log. */
  readonly notes: RequestNotes;
}

/** Managed fields, computed on demand. */
export interface ShownOwners {
  /** Whether the pass tracks owners beyond the object's own managedFields. */
  readonly areTracked: boolean;
  /** The object with the managedFields that it would be stored with. */
  shown(object: ApiObject): ApiObject;
}

/** Key of `scratch`. A plugin sets it after a change that earlier plugins should see, once. */
export const REINVOKE = "reinvoke";

/** Key of `scratch`: the object before policies changed it. */
export const BEFORE_POLICIES = "before policies";

/** A kind of request, whatever its object. */
export interface KindOfRequest {
  readonly resource: AdmittedResource;
  readonly operation: Operation;
  readonly subresource: string;
}

/** Requests that a plugin handles. */
export interface Interest {
  /**
   * `pods`, `pods/resize`, `ingresses.networking.k8s.io`; `all in namespaces`; or `all`. The latter two include
   * subresources.
   */
  readonly resources: readonly string[] | "all in namespaces" | "all";
  readonly operations: readonly Operation[];
}

/**
 * An admission plugin. Every method may run several times for one request, on the newest objects; it throws an
 * ApiError to refuse. Objects are in the version of the request; kinds that built-in plugins handle have only one.
 */
export interface AdmissionPlugin<T extends ApiObject = ApiObject> {
  /** Upstream's name, by which options disable the plugin. */
  readonly name: string;
  readonly interests: readonly Interest[];
  /** Key prefix of the objects that configure the plugin. Without any, requests skip the plugin; with one, it sees even no-op writes. */
  readonly configuredUnder?: string;
  /** Whether a request of this kind may call a webhook, which takes long. Default: false. */
  mayCall?(request: KindOfRequest): boolean;
  /** Loads data that the plugin needs to judge the object; undefined if none is missing. */
  ready?(object: T, request: AdmissionRequest): Promise<unknown> | undefined;
  /**
   * Changes an object before validation. A plugin replaces the members of `spec` and `metadata` that it changes and
   * never changes them in place. It writes complete values, with their defaults.
   */
  mutate?(draft: Draft<T>, request: AdmissionRequest): void;
  /**
   * Runs after all `mutate`. Resolves to a changed object as JSON in the version of the request, or to undefined. A
   * changed object is normalized, gets defaults and passes every plugin once more. `object` is undefined for a
   * DELETE. Returns undefined at once if no webhook must be called.
   */
  mutateLater?(object: T | undefined, request: AdmissionRequest): Promise<ApiObject | undefined> | undefined;
  /** Judges the object as it will be stored; for a DELETE the deleted object. */
  validate?(object: T, request: AdmissionRequest): void;
  /** Runs after all `validate`, for webhooks. `object` is undefined for a DELETE. */
  validateLater?(object: T | undefined, request: AdmissionRequest): Promise<void> | undefined;
}

/** Widens a plugin for one kind to any kind. Its interests select the kind. */
export function definePlugin<T extends ApiObject>(plugin: AdmissionPlugin<T>): AdmissionPlugin {
  return plugin;
}
