/**
 * A watch: every change after a revision, filtered by selectors. An object that begins to match arrives as ADDED, one that
 * stops matching as DELETED with its last matching state and the revision of the change.
 */
import { expired, toStatus } from "../../api/api-error.ts";
import { requiredFieldValue } from "../../api/field-selector.ts";
import type { Loop, Timer } from "../../base/loop.ts";
import { isStoreError } from "../../store/store-error.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, View, Watch, WatchEvent } from "../../store/store.ts";
import type { WatchAnswer, WatchEventAnswer } from "../answer.ts";
import type { Call, Workshop } from "../call.ts";
import { checkListOptions, parseListOptions } from "../list-options.ts";
import type { ListOptions } from "../list-options.ts";
import { filterOf } from "../object-filter.ts";
import type { ObjectFilter } from "../object-filter.ts";
import { keyOf, prefixOf } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import { scopeOf } from "../request-info.ts";
import type { LongRunningLabels } from "../request-tally.ts";
import { reachRevision } from "../revision-wait.ts";
import { toApiError } from "../store-errors.ts";
import { StoredObject } from "../stored-object.ts";
import { groupResource } from "../write/object-writer.ts";
import { EndingWatch } from "./ending-watch.ts";

/** A watch without timeoutSeconds ends after this and up to as much again, so that not all clients come back at once. */
const MIN_DURATION_MS = 30 * 60_000;
/** As kube-apiserver's. */
const BOOKMARK_EVERY_MS = 60_000;
/** So long before a watch ends comes the last one, so that its client goes on from where it ended; as kube-apiserver's. */
const LAST_BOOKMARK_MS = 2_000;
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
  /** One for the whole watch, set anew when it rang: a timer for each batch would cost as much as the batch. */
  #alarm: Timer | undefined;
  /** What the alarm said while nobody listened: the client was being written to. */
  #rang: Wake | undefined;
  /** Set while somebody listens. */
  #wake: ((wake: Wake) => void) | undefined;

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
  }

  async *events(): AsyncGenerator<readonly WatchEventAnswer[]> {
    const { call, workshop, prefix, after } = this.#options;
    let ending: EndingWatch | undefined;
    const ended = workshop.tally.stayOpen(labelsOf(call));
    try {
      const watching = workshop.store.watch({ prefix, after });
      ending = new EndingWatch(watching, call, workshop.store);
      if (ending.isOver) return;
      this.#setAlarm();
      await this.#readyToShow(() => this.#initialEntries());
      yield* this.#initialEvents();
      call.notes.begun();
      let next: ReturnType<Watch["next"]> | undefined;
      while (!ending.isOver) {
        next ??= nextOf(watching);
        const wake = await this.#woken(next);
        if (wake.type === "end") return;
        if (wake.type === "batch") {
          next = undefined;
          await this.#readyToShow(() => wake.events.flatMap(({ before, after }) => [before, after]));
        }
        const events = this.#answersTo(wake, watching);
        if (events.length > 0) yield events;
      }
    } catch (error) {
      // Its client comes back with the last revision it saw, and nothing is lost.
      if (!isStoreError(error, "SlowWatcher") && !isStoreError(error, "Closed")) yield [this.#failure(error)];
    } finally {
      call.notes.begun();
      ended();
      this.#alarm?.cancel();
      ending?.close();
    }
  }

  /** Where only the author of a kind knows its versions, they are asked before objects are looked at. */
  #readyToShow(entriesOf: () => Iterable<Entry | undefined>): Promise<void> | undefined {
    const { call, workshop } = this.#options;
    if (call.resource.custom?.webhook === undefined) return undefined;
    const found = [...entriesOf()].flatMap((entry) => (entry === undefined ? [] : [StoredObject.of(entry)]));
    return workshop.versions.readyToShow(found, call.resource);
  }

  #initialEntries(): Iterable<Entry> {
    const { initial, prefix } = this.#options;
    return initial === undefined ? [] : rangeOf(initial, prefix);
  }

  *#initialEvents(): Generator<readonly WatchEventAnswer[]> {
    const { initial, filter, options } = this.#options;
    if (initial === undefined) return;
    let piece: WatchEventAnswer[] = [];
    for (const entry of this.#initialEntries()) {
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

  #answersTo(wake: Wake, watching: Watch): readonly WatchEventAnswer[] {
    const { options, filter } = this.#options;
    if (wake.type === "batch") return seenOf(wake.events, filter);
    return options.allowBookmarks ? [{ type: "BOOKMARK", resourceVersion: String(watching.revision) }] : [];
  }

  #setAlarm(): void {
    const now = this.#loop.now();
    const last = this.#endAt - LAST_BOOKMARK_MS;
    const isEnd = now >= last;
    const at = isEnd ? this.#endAt : Math.min(last, now + BOOKMARK_EVERY_MS);
    this.#alarm = this.#loop.timer(at, "periodic", () => {
      const wake: Wake = { type: isEnd ? "end" : "bookmark" };
      if (this.#wake === undefined) this.#rang = wake;
      else this.#wake(wake);
      if (!isEnd) this.#setAlarm();
    });
  }

  #woken(next: ReturnType<Watch["next"]>): Promise<Wake> {
    const rang = this.#rang;
    this.#rang = undefined;
    if (rang !== undefined) return Promise.resolve(rang);
    return new Promise((resolve, reject) => {
      this.#wake = (wake) => {
        this.#wake = undefined;
        resolve(wake);
      };
      next.then(({ done, value }) => {
        this.#wake = undefined;
        resolve(done === true ? { type: "end" } : { type: "batch", events: value.events });
      }, reject);
    });
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

function labelsOf({ info }: Call): LongRunningLabels {
  const { group, version, resource, subresource } = info;
  return { verb: "WATCH", group, version, resource, subresource, scope: scopeOf(info) };
}

/** It may fail while the watch does something else, such as a bookmark: then whoever waits for it next is told. */
function nextOf(watching: Watch): ReturnType<Watch["next"]> {
  const next = watching.next();
  next.catch(() => undefined);
  return next;
}

function rangeOf(view: View, prefix: string): Iterable<Entry> {
  if (prefix.endsWith("/")) return view.range(prefix, prefixEnd(prefix));
  const entry = view.get(prefix);
  return entry === undefined ? [] : [entry];
}

function seenOf(
  events: readonly WatchEvent[],
  filter: ObjectFilter | undefined,
): readonly WatchEventAnswer[] {
  const answers: WatchEventAnswer[] = [];
  for (const event of events) {
    const answer = seen(event, filter);
    if (answer !== undefined) answers.push(answer);
  }
  return answers;
}

/** What a watcher with this filter sees of a change. */
function seen(
  { before, after, revision }: WatchEvent,
  filter: ObjectFilter | undefined,
): WatchEventAnswer | undefined {
  const old = before === undefined ? undefined : StoredObject.of(before);
  const now = after === undefined ? undefined : StoredObject.of(after);
  const matched = old !== undefined && (filter === undefined || filter(old));
  const matches = now !== undefined && (filter === undefined || filter(now));
  if (matches) return { type: matched ? "MODIFIED" : "ADDED", stored: now };
  return matched ? { type: "DELETED", stored: old, resourceVersion: String(revision) } : undefined;
}
