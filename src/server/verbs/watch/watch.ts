/**
 * A watch: every change after a revision, filtered by selectors. An object that begins to match arrives as ADDED, one that
 * stops matching as DELETED with its last matching state and the revision of the change.
 */
import { type ApiError, badRequest, expired, isApiError, toStatus } from "../../../api/errors/api-error.ts";
import { requiredFieldValue } from "../../../api/selectors/field-selector.ts";
import type { Loop, Timer } from "../../../base/loop/loop.ts";
import { isStoreError } from "../../../store/store-error.ts";
import type { Entry, View, Watch, WatchEvent } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { toApiError } from "../../objects/store-errors.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { WatchAnswer, WatchEventAnswer, WatchEvents } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import type { LongRunningLabels } from "../../request/request-counts.ts";
import { scopeOf } from "../../request/request-info.ts";
import { groupResource } from "../../write/object-writer.ts";
import { listOptionsOf } from "../read/list-options.ts";
import type { ListOptions } from "../read/list-options.ts";
import { filterOf } from "../read/object-filter.ts";
import type { ObjectFilter } from "../read/object-filter.ts";
import { reachRevision } from "../read/revision-wait.ts";
import type { VerbParts } from "../verb.ts";
import { INITIAL_PIECE, type InitialPiece, initialPieces } from "./initial-pieces.ts";
import type { Selectors } from "./open-selectors.ts";
import { OpenWatch } from "./open-watch.ts";

/** Minimum duration without timeoutSeconds. A random part of the same length is added, so that clients do not reconnect all at once. */
const MIN_DURATION_MS = 30 * 60_000;
/** Same as kube-apiserver's. */
const BOOKMARK_EVERY_MS = 60_000;
/** Time between the last bookmark and the end, same as kube-apiserver's. The client continues from that bookmark. */
const LAST_BOOKMARK_MS = 2_000;

export async function watch(call: Call<StoredResource>, verbParts: VerbParts): Promise<WatchAnswer> {
  const { resource, query } = call;
  const options = listOptionsOf(query, resource.facts, "watch");
  requireOwnName(call.info.name, options);
  const { initial, ...start } = await beginning(options, verbParts);
  const prefix = watchedPrefix(call, options);
  const { labels, fields, ...manner } = options;
  verbParts.selectors.requireRoom(options);
  return {
    type: "watch",
    resource,
    events: new WatchRun({ ...start, manner, prefix, call, verbParts }, { initial, labels, fields }),
  };
}

/** On an object's own path the field selector may select only that object. */
function requireOwnName(name: string, { fields }: ListOptions): void {
  if (name === "" || fields.terms.length === 0) return;
  if (requiredFieldValue(fields, "metadata.name") !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** A watch of a single object uses its key as the prefix. Changes of other objects then cost nothing. */
function watchedPrefix({ resource, info }: Call<StoredResource>, { fields }: ListOptions): string {
  const name = info.name === "" ? requiredFieldValue(fields, "metadata.name") : info.name;
  const isOne = name !== undefined && name !== "" && (info.namespace !== "" || !resource.facts.namespaced);
  return isOne ? keyOf(resource, info.namespace, name) : prefixOf(resource, info.namespace);
}

interface Beginning {
  /** Existing objects, sent first as ADDED. Undefined for a watch that sends only changes. */
  readonly initial: View | undefined;
  readonly after: number;
  /** Error that prevents the watch. It is sent as the only event. */
  readonly failure?: ApiError | undefined;
}

async function beginning(options: ListOptions, { store, loop }: VerbParts): Promise<Beginning> {
  const { resourceVersion, sendInitialEvents } = options;
  if (sendInitialEvents === true) {
    if (resourceVersion === undefined) return from(await store.fresh());
    const reached = await reachedOrTimeout(reachRevision(store, loop, resourceVersion));
    return isApiError(reached) ? { ...from(store.view), failure: reached } : from(reached);
  }
  if (resourceVersion === undefined && sendInitialEvents === undefined) {
    return from(await store.fresh());
  }
  if (resourceVersion === 0) {
    const { view } = store;
    return { initial: sendInitialEvents === undefined ? view : undefined, after: view.revision };
  }
  if (resourceVersion === undefined) return { initial: undefined, after: (await store.fresh()).revision };
  // The revision may come from before a restore. Without this wait, the watch would send nothing until the store reaches it.
  await reachRevision(store, loop, resourceVersion);
  return { initial: undefined, after: resourceVersion };
}

/** Begins with the existing objects, then sends the changes. */
function from(view: View): Beginning {
  return { initial: view, after: view.revision };
}

async function reachedOrTimeout(reached: Promise<View>): Promise<View | ApiError> {
  try {
    return await reached;
  } catch (error) {
    if (isApiError(error, "Timeout")) return error;
    throw error;
  }
}

/** Parts that the run keeps briefly: it drops the view once read, and replaces the selectors by shared ones. */
type Start = Selectors & Pick<Beginning, "initial">;

interface RunOptions extends Omit<Beginning, "initial"> {
  readonly manner: Omit<ListOptions, keyof Selectors>;
  readonly prefix: string;
  readonly call: Call<StoredResource>;
  readonly verbParts: VerbParts;
}

/** Result of `WatchEvents.take`. */
type Taken = ReturnType<WatchEvents["take"]>;

class WatchRun implements WatchEvents {
  readonly #options: RunOptions;
  readonly #loop: Loop;
  readonly #endAt: number;
  /** Existing objects, until the iteration over them begins. */
  #initialView: View | undefined;
  /** Replaced by shared ones when the watch begins. */
  #selectors: Selectors;
  #filter: ObjectFilter | undefined;
  #open: OpenWatch | undefined;
  #isClosed = false;
  #notify: () => void = noListener;
  /** One timer for the whole watch, set again after each alarm. A timer for each batch would cost as much as the batch. */
  #alarm: Timer | undefined;
  /** Kind of the last alarm, until it is handled. */
  #rang: "bookmark" | "end" | undefined;
  /** Initial objects and changes that wait for the conversion webhook. */
  #piece: InitialPiece | undefined;
  #changed: readonly WatchEvent[] | undefined;
  /** Set while a conversion request is in flight, with `error` once it has failed. */
  #asking: { readonly error?: unknown } | undefined;

  constructor(options: RunOptions, { initial, labels, fields }: Start) {
    this.#options = options;
    this.#initialView = initial;
    this.#selectors = { labels, fields };
    this.#loop = options.verbParts.loop;
    const now = this.#loop.now();
    const { timeoutSeconds } = options.manner;
    const random = this.#loop.random("watch-duration");
    this.#endAt =
      now +
      (timeoutSeconds === undefined || timeoutSeconds === 0
        ? MIN_DURATION_MS * (1 + random.next())
        : timeoutSeconds * 1000);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEventAnswer[]> {
    try {
      for (;;) {
        const taken = this.take();
        if (taken === "end") return;
        if (taken === undefined) await this.#ready();
        else yield taken;
      }
    } finally {
      this.close();
    }
  }

  /** Resolves in a separate step of the loop. */
  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.whenReady(() => {
        this.#notify = noListener;
        this.#loop.post("request", resolve);
      });
    });
  }

  whenReady(listener: () => void): void {
    this.#notify = listener;
  }

  take(): Taken {
    if (this.#isClosed) return "end";
    try {
      const open = this.#open ?? this.#begin();
      const told = this.#told(open);
      if (told !== undefined && told !== "end") open.tallied.sent(told.length);
      return told;
    } catch (error) {
      if (isStoreError(error, "SlowWatcher")) this.#open?.tallied.tooSlow();
      this.close();
      // The client retries from the last revision that it saw and misses nothing.
      const isOver = isStoreError(error, "SlowWatcher") || isStoreError(error, "Closed");
      return isOver ? "end" : [this.#failure(error)];
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#notify = noListener;
    const { call, verbParts } = this.#options;
    call.notes.begun();
    this.#alarm?.cancel();
    this.#open?.close();
    verbParts.selectors.release(this.#selectors);
  }

  #begin(): OpenWatch {
    const { call, verbParts, prefix, after, failure } = this.#options;
    if (failure !== undefined) throw failure;
    const { store, tally, selectors, versions } = verbParts;
    this.#selectors = selectors.hold(this.#selectors);
    this.#filter = filterOf(this.#selectors, call.resource, versions);
    const watching = store.watch({ prefix, after });
    const tallied = tally.stayOpen(labelsOf(call));
    const initial = initialPieces(this.#initialView, prefix);
    const open = new OpenWatch(watching, call, { store, initial, tallied });
    this.#initialView = undefined;
    this.#open = open;
    if (open.isOver) return open;
    watching.whenReady(() => this.#notify());
    this.#setAlarm();
    return open;
  }

  #told(open: OpenWatch): Taken {
    if (open.isOver || this.#rang === "end") {
      this.close();
      return "end";
    }
    if (this.#asking !== undefined) return this.#answered(this.#asking);
    if (open.initial !== undefined) return this.#initial(open, open.initial);
    return this.#bookmark(open) ?? this.#changes(open);
  }

  /** Combines several pieces when the selectors match few objects. */
  #initial(open: OpenWatch, pieces: Iterator<InitialPiece, undefined>): Taken {
    const events: WatchEventAnswer[] = [];
    while (events.length < INITIAL_PIECE) {
      const piece = this.#piece ?? pieces.next().value;
      if (piece === undefined) break;
      this.#piece = this.#ask(piece.entries) ? piece : undefined;
      if (this.#piece !== undefined) return events.length > 0 ? events : undefined;
      this.#select(piece, events);
    }
    if (events.length > 0) return events;
    open.initial = undefined;
    this.#options.call.notes.begun();
    return this.#bookmark(open) ?? this.#changes(open);
  }

  #answered(asking: { readonly error?: unknown }): undefined {
    if ("error" in asking) throw asking.error;
    return undefined;
  }

  /** Sends no bookmark before the start revision of the watch. The client may have begun ahead of this server. */
  #bookmark({ watching: { revision } }: OpenWatch): readonly WatchEventAnswer[] | undefined {
    const { manner, after } = this.#options;
    const isDue = this.#rang === "bookmark" && manner.allowBookmarks && revision >= after;
    this.#rang = undefined;
    return isDue ? [{ type: "BOOKMARK", resourceVersion: String(revision) }] : undefined;
  }

  #changes({ watching }: OpenWatch): Taken {
    for (;;) {
      const events = this.#changed ?? this.#taken(watching);
      if (events === undefined) return undefined;
      if (events === "end") {
        this.close();
        return "end";
      }
      this.#changed = this.#isConverted && this.#ask(entriesIn(events)) ? events : undefined;
      if (this.#changed !== undefined) return undefined;
      const seen = seenOf(events, this.#filter);
      if (seen.length > 0) return seen;
    }
  }

  #taken(watching: Watch): readonly WatchEvent[] | "end" | undefined {
    const batch = watching.take();
    return batch === undefined || batch === "end" ? batch : batch.events;
  }

  /** Tells whether the kind needs a conversion webhook to show its versions. */
  get #isConverted(): boolean {
    return this.#options.call.resource.custom?.webhook !== undefined;
  }

  /**
   * Starts a conversion before objects are filtered; false when none is needed. The cache may evict a conversion before its use. The
   * caller therefore calls this again after each answer.
   */
  #ask(entries: readonly Entry[]): boolean {
    if (!this.#isConverted) return false;
    const { call, verbParts } = this.#options;
    const found = entries.map((entry) => StoredObject.of(entry));
    const asked = verbParts.versions.readyToShow(found, call.resource);
    if (asked === undefined) return false;
    this.#asking = {};
    const answered = (asking: { readonly error?: unknown } | undefined): void => {
      this.#asking = asking;
      this.#notify();
    };
    asked.then(
      () => answered(undefined),
      (error: unknown) => answered({ error }),
    );
    return true;
  }

  #select({ entries, isLast }: InitialPiece, events: WatchEventAnswer[]): void {
    const { after, manner } = this.#options;
    const filter = this.#filter;
    for (const entry of entries) {
      const stored = StoredObject.of(entry);
      if (filter === undefined || filter(stored)) events.push({ type: "ADDED", stored });
    }
    if (!isLast || manner.sendInitialEvents !== true || !manner.allowBookmarks) return;
    events.push({ type: "BOOKMARK", resourceVersion: String(after), isInitialEnd: true });
  }

  #setAlarm(): void {
    const now = this.#loop.now();
    const last = this.#endAt - LAST_BOOKMARK_MS;
    const isEnd = now >= last;
    const at = isEnd ? this.#endAt : Math.min(last, now + BOOKMARK_EVERY_MS);
    this.#alarm = this.#loop.timer(at, "periodic", () => {
      this.#rang = isEnd ? "end" : "bookmark";
      if (!isEnd) this.#setAlarm();
      this.#notify();
    });
  }

  #failure(error: unknown): WatchEventAnswer {
    const isTooOld = isStoreError(error, "Compacted");
    const { call, after } = this.#options;
    const shown = isTooOld
      ? expired(tooOld(after, error.floor))
      : toApiError(error, groupResource(call.resource), call.info.name);
    return { type: "ERROR", status: toStatus(shown) };
  }
}

function tooOld(after: number, oldest: number | undefined): string {
  const kept = oldest === undefined ? "" : ` (${String(oldest)})`;
  return `too old resource version: ${String(after)}${kept}`;
}

function labelsOf({ info }: Call): LongRunningLabels {
  const { group, version, resource, subresource } = info;
  return { verb: "WATCH", group, version, resource, subresource, scope: scopeOf(info) };
}

/** Listener before `whenReady` sets one. */
function noListener(): void {
  // `take` looks for events itself.
}

/** Answers that unfiltered watchers of the same events share. The server computes and encodes them once. */
const seenByAll = new WeakMap<readonly WatchEvent[], readonly WatchEventAnswer[]>();

function seenOf(
  events: readonly WatchEvent[],
  filter: ObjectFilter | undefined,
): readonly WatchEventAnswer[] {
  const known = filter === undefined ? seenByAll.get(events) : undefined;
  if (known !== undefined) return known;
  const answers: WatchEventAnswer[] = [];
  for (const event of events) {
    const answer = seen(event, filter);
    if (answer !== undefined) answers.push(answer);
  }
  if (filter === undefined) seenByAll.set(events, answers);
  return answers;
}

function entriesIn(events: readonly WatchEvent[]): readonly Entry[] {
  return events.flatMap(({ before, after }) => [before, after]).filter((entry) => entry !== undefined);
}

/** Event that a watcher with this filter gets for a change. */
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
