/**
 * A watch: every change after a revision, filtered by selectors. An object that begins to match arrives as ADDED, one that
 * stops matching as DELETED with its last matching state and the revision of the change.
 */
import { expired, toStatus } from "../../api/api-error.ts";
import { requiredFieldValue } from "../../api/field-selector.ts";
import type { Loop } from "../../base/loop.ts";
import { isStoreError } from "../../store/store-error.ts";
import { prefixEnd } from "../../store/store.ts";
import type { View, Watch, WatchEvent } from "../../store/store.ts";
import type { WatchAnswer, WatchEventAnswer } from "../answer.ts";
import type { Call, Workshop } from "../call.ts";
import { checkListOptions, parseListOptions } from "../list-options.ts";
import type { ListOptions } from "../list-options.ts";
import { filterOf } from "../object-filter.ts";
import type { ObjectFilter } from "../object-filter.ts";
import { keyOf, prefixOf } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import { reachRevision } from "../revision-wait.ts";
import { toApiError } from "../store-errors.ts";
import { StoredObject } from "../stored-object.ts";
import { groupResource } from "../write/object-writer.ts";

/** A watch without timeoutSeconds ends after this and up to as much again, so that not all clients come back at once. */
const MIN_DURATION_MS = 30 * 60_000;
/** As kube-apiserver's. */
const BOOKMARK_EVERY_MS = 60_000;
/** Existing objects are sent in pieces. */
const INITIAL_PIECE = 500;

export async function watch(call: Call<StoredResource>, workshop: Workshop): Promise<WatchAnswer> {
  const { resource, query } = call;
  const options = parseListOptions(query, resource.facts);
  checkListOptions(options, "watch");
  const start = await beginning(options, workshop);
  const prefix = watchedPrefix(call, options);
  const filter = filterOf(options, resource, workshop.versions);
  return {
    type: "watch",
    resource,
    events: new WatchRun({ ...start, options, prefix, filter, call, workshop }).events(),
  };
}

/** A single object is watched by its key, which costs nothing while others change. */
function watchedPrefix({ resource, info }: Call<StoredResource>, { fields }: ListOptions): string {
  const name = info.name === "" ? requiredFieldValue(fields, "metadata.name") : info.name;
  const isOne = name !== undefined && name !== "" && (info.namespace !== "" || !resource.facts.namespaced);
  return isOne ? keyOf(resource, info.namespace, name) : prefixOf(resource, info.namespace);
}

interface Beginning {
  /** The state that comes first as ADDED; undefined when only changes are wanted. */
  readonly initial: View | undefined;
  readonly after: number;
}

async function beginning(options: ListOptions, { store, loop }: Workshop): Promise<Beginning> {
  const { resourceVersion, sendInitialEvents } = options;
  if (sendInitialEvents === true) {
    if (resourceVersion !== undefined) await reachRevision(store, loop, resourceVersion);
    const view = resourceVersion === undefined ? await store.fresh() : store.view;
    return { initial: view, after: view.revision };
  }
  if (resourceVersion === undefined && sendInitialEvents === undefined) {
    const view = await store.fresh();
    return { initial: view, after: view.revision };
  }
  if (resourceVersion === 0 && sendInitialEvents === undefined)
    return { initial: store.view, after: store.view.revision };
  const after = resourceVersion ?? (await store.fresh()).revision;
  return { initial: undefined, after };
}

interface RunOptions extends Beginning {
  readonly options: ListOptions;
  readonly prefix: string;
  readonly filter: ObjectFilter | undefined;
  readonly call: Call<StoredResource>;
  readonly workshop: Workshop;
}

/** What wakes a watch: a batch, its end, or the time for a bookmark. */
type Wake =
  | { readonly type: "batch"; readonly events: readonly WatchEvent[] }
  | { readonly type: "bookmark" }
  | { readonly type: "end" };

class WatchRun {
  readonly #options: RunOptions;
  readonly #loop: Loop;
  readonly #endAt: number;
  #bookmarkAt: number;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#loop = options.workshop.loop;
    const now = this.#loop.now();
    const { timeoutSeconds } = options.options;
    const random = this.#loop.random("watch-duration");
    this.#endAt =
      now +
      (timeoutSeconds === undefined || timeoutSeconds === 0
        ? MIN_DURATION_MS * (1 + random.next())
        : timeoutSeconds * 1000);
    this.#bookmarkAt = now + BOOKMARK_EVERY_MS;
  }

  async *events(): AsyncGenerator<readonly WatchEventAnswer[]> {
    const { call, workshop, prefix, after } = this.#options;
    let watching: Watch | undefined;
    const onAbort = (): void => watching?.close();
    call.request.signal.addEventListener("abort", onAbort, { once: true });
    try {
      watching = workshop.store.watch({ prefix, after });
      if (call.request.signal.aborted) return;
      yield* this.#initialEvents();
      yield* this.#changes(watching);
    } catch (error) {
      // Its client comes back with the last revision it saw, and nothing is lost.
      if (!isStoreError(error, "SlowWatcher") && !isStoreError(error, "Closed")) yield [this.#failure(error)];
    } finally {
      call.request.signal.removeEventListener("abort", onAbort);
      watching?.close();
    }
  }

  *#initialEvents(): Generator<readonly WatchEventAnswer[]> {
    const { initial, prefix, filter, options } = this.#options;
    if (initial === undefined) return;
    let piece: WatchEventAnswer[] = [];
    for (const entry of rangeOf(initial, prefix)) {
      const stored = StoredObject.of(entry);
      if (filter !== undefined && !filter(stored)) continue;
      piece.push({ type: "ADDED", stored });
      if (piece.length < INITIAL_PIECE) continue;
      yield piece;
      piece = [];
    }
    if (options.sendInitialEvents === true && options.allowBookmarks) {
      piece.push({ type: "BOOKMARK", resourceVersion: String(initial.revision), isInitialEnd: true });
    }
    if (piece.length > 0) yield piece;
  }

  async *#changes(watching: Watch): AsyncGenerator<readonly WatchEventAnswer[]> {
    let next = watching.next();
    for (;;) {
      const wake = await this.#wake(next);
      if (wake.type === "end") return;
      if (wake.type === "batch") {
        next = watching.next();
        const events = wake.events.flatMap((event) => seen(event, this.#options.filter));
        if (events.length > 0) yield events;
      } else {
        this.#bookmarkAt = this.#loop.now() + BOOKMARK_EVERY_MS;
        if (this.#options.options.allowBookmarks)
          yield [{ type: "BOOKMARK", resourceVersion: String(watching.revision) }];
      }
    }
  }

  async #wake(next: Promise<IteratorResult<{ events: readonly WatchEvent[] }, unknown>>): Promise<Wake> {
    let timer: { cancel(): void } | undefined;
    const at = Math.min(this.#endAt, this.#bookmarkAt);
    const timed = new Promise<Wake>((resolve) => {
      timer = this.#loop.timer(at, "periodic", () =>
        resolve({ type: at === this.#endAt ? "end" : "bookmark" }),
      );
    });
    const batch = next.then((result): Wake =>
      result.done === true ? { type: "end" } : { type: "batch", events: result.value.events },
    );
    try {
      return await Promise.race([batch, timed]);
    } finally {
      timer?.cancel();
    }
  }

  #failure(error: unknown): WatchEventAnswer {
    const isTooOld = isStoreError(error, "Compacted");
    const { call, after } = this.#options;
    const shown = isTooOld
      ? expired(`too old resource version: ${String(after)}`)
      : toApiError(error, groupResource(call.resource), call.info.name);
    return { type: "ERROR", status: toStatus(shown) };
  }
}

function rangeOf(view: View, prefix: string): Iterable<NonNullable<ReturnType<View["get"]>>> {
  if (prefix.endsWith("/")) return view.range(prefix, prefixEnd(prefix));
  const entry = view.get(prefix);
  return entry === undefined ? [] : [entry];
}

/** What a watcher with this filter sees of a change. */
function seen(
  { before, after, revision }: WatchEvent,
  filter: ObjectFilter | undefined,
): readonly WatchEventAnswer[] {
  const old = before === undefined ? undefined : StoredObject.of(before);
  const now = after === undefined ? undefined : StoredObject.of(after);
  const matched = old !== undefined && (filter === undefined || filter(old));
  const matches = now !== undefined && (filter === undefined || filter(now));
  if (matches) return [{ type: matched ? "MODIFIED" : "ADDED", stored: now }];
  return matched ? [{ type: "DELETED", stored: old, resourceVersion: String(revision) }] : [];
}
