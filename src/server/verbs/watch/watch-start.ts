/** The place at which a watch begins, by its resourceVersion and sendInitialEvents. */
import { type ApiError, isApiError } from "../../../api/errors/api-error.ts";
import type { View } from "../../../store/store.ts";
import type { ListOptions } from "../read/list-options.ts";
import type { ReadParts } from "../read/list.ts";
import { reachRevision } from "../read/revision-wait.ts";

export interface WatchStartPoint {
  /** State with the existing objects, sent first as ADDED. Undefined for a watch that sends only changes. */
  readonly existing: View | undefined;
  readonly after: number;
  /** Error that prevents the watch. It is sent as the only event. */
  readonly failure?: ApiError | undefined;
}

export async function findStartPoint(
  { resourceVersion, sendInitialEvents }: ListOptions,
  { store, loop }: Pick<ReadParts, "store" | "loop">,
): Promise<WatchStartPoint> {
  if (sendInitialEvents === true) {
    if (resourceVersion === undefined) return withExisting(await store.fresh());
    const reached = await reachedOrTimeout(reachRevision(store, loop, resourceVersion));
    return isApiError(reached) ? { ...withExisting(store.view), failure: reached } : withExisting(reached);
  }
  if (resourceVersion === undefined && sendInitialEvents === undefined)
    return withExisting(await store.fresh());
  if (resourceVersion === 0) {
    const { view } = store;
    return sendInitialEvents === undefined ? withExisting(view) : changesAfter(view.revision);
  }
  if (resourceVersion === undefined) return changesAfter((await store.fresh()).revision);
  // The revision may come from before a restore. Without this wait, the watch would send nothing until the store reaches it.
  await reachRevision(store, loop, resourceVersion);
  return changesAfter(resourceVersion);
}

function withExisting(view: View): WatchStartPoint {
  return { existing: view, after: view.revision };
}

function changesAfter(revision: number): WatchStartPoint {
  return { existing: undefined, after: revision };
}

async function reachedOrTimeout(reached: Promise<View>): Promise<View | ApiError> {
  try {
    return await reached;
  } catch (error) {
    if (isApiError(error, "Timeout")) return error;
    throw error;
  }
}
