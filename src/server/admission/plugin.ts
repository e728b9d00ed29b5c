/**
 * The contract of admission: what a built-in plugin, and later a webhook or a policy, is told of a write and may do to it.
 *
 * Built-in plugins and policies are plain functions on what the server has in memory. Between their reading and the write being handed in
 * nothing is awaited for, so they decide on what the write itself is judged against. Whoever has to ask another process (webhooks) does so in
 * `mutateLater` and `validateLater`; when somebody else was faster meanwhile, the write's own condition fails and the whole pass begins again on
 * the newest object. What must only be waited for once is `ready`.
 */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Random } from "../../base/loop/loop.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import type { ServerMemory } from "../objects/lister.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { RequestNotes } from "../request/request-notes.ts";

/** As AdmissionReview names them. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionRequest {
  readonly operation: Operation;
  /** For which the requester was authorized: what is created may come by `patch`, what is deleted by `deletecollection`. */
  readonly verb: string;
  readonly resource: AdmittedResource;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Of the object; the beginning of it while its name is still to be generated. */
  readonly name: string;
  readonly user: Requester;
  /** What is replaced or deleted. */
  readonly previous: ApiObject | undefined;
  readonly isDryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions, made when somebody looks; undefined where there are none. */
  readonly options?: (() => JsonObject) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly memory: ServerMemory;
  readonly random: Random;
  /** The object was changed by a webhook or a policy since this plugin saw it last. */
  readonly isReinvocation: boolean;
  /** Lasts as long as the pass: what a plugin has to remember from one stage to the next, by the plugin's name. */
  readonly scratch: Map<string, unknown>;
  /** Who owns the fields of the object, for those who show it to others. */
  readonly owners?: ShownOwners | undefined;
  /** Where warnings for the client and annotations for the audit log go. */
  readonly notes: RequestNotes;
}

/** What is worked out only when somebody looks at it. */
export interface ShownOwners {
  /** Whether more is known of them than stands in the object. */
  readonly areTracked: boolean;
  /** The object with who owns its fields if it is stored so. */
  shown(object: ApiObject): ApiObject;
}

/** A key of `scratch`: set by a plugin that has changed something which those before it should see, once. */
export const REINVOKE = "reinvoke";

/** A key of `scratch`: what was to be written before policies changed it. */
export const BEFORE_POLICIES = "before policies";

/** Which requests concern a plugin. */
export interface Interest {
  /**
   * `pods`, `pods/resize`, `ingresses.networking.k8s.io`; all that are in a namespace; or all. Of the latter two with their subresources.
   */
  readonly resources: readonly string[] | "all in namespaces" | "all";
  readonly operations: readonly Operation[];
}

/**
 * All of it may be called several times for one request, on the newest objects, and throws an ApiError to refuse. Objects are in the version
 * of the request; the kinds that built-in plugins know have one only.
 */
export interface AdmissionPlugin<T extends ApiObject = ApiObject> {
  /** As upstream calls it; this is the name by which it is turned off. */
  readonly name: string;
  readonly interests: readonly Interest[];
  /** What has to be waited for before the object can be judged; undefined when nothing. */
  ready?(object: T, request: AdmissionRequest): Promise<unknown> | undefined;
  /**
   * Changes an object before it is validated. It replaces the members of `spec` and `metadata` that it changes instead of changing them
   * in place, and writes values in full, as defaults would have left them.
   */
  mutate?(draft: Draft<T>, request: AdmissionRequest): void;
  /**
   * After all `mutate`: another object to go on with, as JSON in the version of the request; undefined for the same one. It is brought to normal
   * form and gets its defaults again, and every plugin sees it once more. There is no object when one is deleted. Undefined at once when
   * nobody has to be asked.
   */
  mutateLater?(object: T | undefined, request: AdmissionRequest): Promise<ApiObject | undefined> | undefined;
  /** Looks at the object as it will be stored; for a deletion at the one that is deleted. */
  validate?(object: T, request: AdmissionRequest): void;
  /** Whether there is somebody who sees every write, also one that changes nothing. Nobody where this is not given. */
  hasListeners?(): boolean;
  /** After all `validate`, for those who have to ask. There is no object when one is deleted. */
  validateLater?(object: T | undefined, request: AdmissionRequest): Promise<void> | undefined;
}

/** Takes a plugin for any kind: its interests say which it is about. */
export function definePlugin<T extends ApiObject>(plugin: AdmissionPlugin<T>): AdmissionPlugin {
  return plugin as unknown as AdmissionPlugin;
}
