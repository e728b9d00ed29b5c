/** The objects that a watcher follows, and the requests for them. */
import { collectionPath } from "../../api/api-object.ts";
import type { ResourceType } from "../../api/api-object.ts";
import type { Random } from "../../base/loop/loop.ts";
import type { TransportRequest } from "../../client/transport.ts";
import { newestVersion } from "./watcher-position.ts";
import type { InitialState, ListingState, WatchingState } from "./watcher-state.ts";

/** Objects to watch. */
export interface WatcherScope {
  readonly type: ResourceType;
  /** `metadata` watches PartialObjectMetadata instead of whole objects. Default: `object`. */
  readonly form?: "object" | "metadata";
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** Label selector that the objects match. Default: all objects. */
  readonly labelSelector?: string;
  /** Field selector that the objects match. Default: all objects. */
  readonly fieldSelector?: string;
}

/** Equal to client-go's page size. */
const PAGE_LIMIT = 500;
/**
 * A watch lasts between this and twice this. The spread moves load to servers added later and avoids simultaneous
 * reconnects.
 */
const MIN_WATCH_SECONDS = 300;

export function listRequest(scope: WatcherScope, state: ListingState, signal: AbortSignal): TransportRequest {
  const { token, isWhole } = state;
  return request(scope, signal, {
    ...(isWhole ? {} : { limit: String(PAGE_LIMIT) }),
    ...(token === undefined ? notOlderThan(state) : { continue: token }),
  });
}

export function watchRequest(
  scope: WatcherScope,
  state: InitialState | WatchingState,
  { signal, random }: { readonly signal: AbortSignal; readonly random: Random },
): TransportRequest {
  return request(scope, signal, {
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(MIN_WATCH_SECONDS + random.below(MIN_WATCH_SECONDS)),
    ...(state.name === "watching"
      ? { resourceVersion: state.position.complete }
      : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", ...notOlderThan(state) }),
  });
}

/** Asks for the newest state at first. After a delivery, any state that is not older will do. */
function notOlderThan({ position, memory }: ListingState | InitialState): Record<string, string> {
  if (position === undefined || memory.behind !== undefined) return {};
  return { resourceVersion: newestVersion(position), resourceVersionMatch: "NotOlderThan" };
}

function request(
  { type, namespace, labelSelector, fieldSelector, form }: WatcherScope,
  signal: AbortSignal,
  query: Record<string, string>,
): TransportRequest {
  return {
    method: "GET",
    path: collectionPath(type, namespace),
    query: {
      ...query,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    },
    ...(form !== undefined && { form }),
    signal,
  };
}

/** Text for people that is also a key: `Pod`, `Deployment.apps metadata app=web`. */
export function scopeText({ type, form, namespace, labelSelector, fieldSelector }: WatcherScope): string {
  const restrictions = [
    form === "metadata" ? "metadata" : undefined,
    namespace === undefined ? undefined : `namespace=${namespace}`,
    labelSelector === undefined ? undefined : `labels: ${labelSelector}`,
    fieldSelector === undefined ? undefined : `fields: ${fieldSelector}`,
  ];
  return [kindText(type), ...restrictions.filter((text) => text !== undefined)].join(" ");
}

/** `Pod`, or `Deployment.apps` outside the core group. */
export function kindText({ apiVersion, kind }: ResourceType): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? kind : `${kind}.${apiVersion.slice(0, slash)}`;
}
