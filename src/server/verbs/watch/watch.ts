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
import type { Workshop } from "../verb.ts";
import { INITIAL_PIECE, type InitialPiece, initialPieces } from "./initial-pieces.ts";
import type { Selectors } from "./open-selectors.ts";
import { OpenWatch } from "./open-watch.ts";

/** A watch without timeoutSeconds ends after this and up to as much again, so that not all clients come back at once. */
const MIN_DURATION_MS = 30 * 60_000;
/** As kube-apiserver's. */
const BOOKMARK_EVERY_MS = 60_000;
/** So long before a watch ends comes the last one, so that its client goes on from where it ended; as kube-apiserver's. */
const LAST_BOOKMARK_MS = 2_000;

export async function watch(call: Call<StoredResource>, workshop: Workshop): Promise<WatchAnswer> {
  const { resource, query } = call;
  const options = listOptionsOf(query, resource.facts, "watch");
  requireOwnName(call.info.name, options);
  const { initial, ...start } = await beginning(options, workshop);
  const prefix = watchedPrefix(call, options);
  const { labels, fields, ...manner } = options;
  workshop.selectors.requireRoom(options);
  return {
    type: "watch",
    resource,
    events: new WatchRun({ ...start, manner, prefix, call, workshop }, { initial, labels, fields }),
  };
}

/** Of an object's own path nothing is selected but itself. */
function requireOwnName(name: string, { fields }: ListOptions): void {
  if (name === "" || fields.terms.length === 0) return;
  if (requiredFieldValue(fields, "metadata.name") !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
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
  /** Why it cannot begin, which is told as its only event. */
  readonly failure?: ApiError | undefined;
}

async function beginning(options: ListOptions, { store, loop }: Workshop): Promise<Beginning> {
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
  // A watch from beyond the newest revision would be silent about all that happens until then: its revision may be from before a restore.
  await reachRevision(store, loop, resourceVersion);
  return { initial: undefined, after: resourceVersion };
}

/** What is there first, then what changes. */
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

/** What is there as it began for no longer than it is needed: the state is let go of, and selectors are shared with other watches. */
type Start = Selectors & Pick<Beginning, "initial">;

interface RunOptions extends Omit<Beginning, "initial"> {
  readonly manner: Omit<ListOptions, keyof Selectors>;
  readonly prefix: string;
  readonly call: Call<StoredResource>;
  readonly workshop: Workshop;
}

/** What is there to tell, see `WatchEvents.take`. */
type Taken = ReturnType<WatchEvents["take"]>;

class WatchRun implements WatchEvents {
  readonly #options: RunOptions;
  readonly #loop: Loop;
  readonly #endAt: number;
  /** Until its entries are told one after the other. */
  #initialView: View | undefined;
  /** From the beginning on those that are shared. */
  #selectors: Selectors;
  #filter: ObjectFilter | undefined;
  #open: OpenWatch | undefined;
  #isClosed = false;
  #tell: () => void = nobody;
  /** One for the whole watch, set anew when it rang: a timer for each batch would cost as much as the batch. */
  #alarm: Timer | undefined;
  /** What the alarm said and was not told yet. */
  #rang: "bookmark" | "end" | undefined;
  /** What cannot be shown before its author has answered: of what was there before, and of what has changed. */
  #piece: InitialPiece | undefined;
  #changed: readonly WatchEvent[] | undefined;
  /** Who was asked for other versions has not answered yet, or refused. */
  #asking: { readonly error?: unknown } | undefined;

  constructor(options: RunOptions, { initial, labels, fields }: Start) {
    this.#options = options;
    this.#initialView = initial;
    this.#selectors = { labels, fields };
    this.#loop = options.workshop.loop;
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

  /** Settles in a step of its own. */
  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.whenReady(() => {
        this.#tell = nobody;
        this.#loop.post("request", resolve);
      });
    });
  }

  whenReady(listener: () => void): void {
    this.#tell = listener;
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
      // Its client comes back with the last revision it saw, and nothing is lost.
      const isOver = isStoreError(error, "SlowWatcher") || isStoreError(error, "Closed");
      return isOver ? "end" : [this.#failure(error)];
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tell = nobody;
    const { call, workshop } = this.#options;
    call.notes.begun();
    this.#alarm?.cancel();
    this.#open?.close();
    workshop.selectors.release(this.#selectors);
  }

  #begin(): OpenWatch {
    const { call, workshop, prefix, after, failure } = this.#options;
    if (failure !== undefined) throw failure;
    const { store, tally, selectors, versions } = workshop;
    this.#selectors = selectors.hold(this.#selectors);
    this.#filter = filterOf(this.#selectors, call.resource, versions);
    const watching = store.watch({ prefix, after });
    const tallied = tally.stayOpen(labelsOf(call));
    const initial = initialPieces(this.#initialView, prefix);
    const open = new OpenWatch(watching, call, { store, initial, tallied });
    this.#initialView = undefined;
    this.#open = open;
    if (open.isOver) return open;
    watching.whenReady(() => this.#tell());
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

  /** Of pieces in which little is selected, several at once. */
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

  /** A watch may begin ahead of what this server has seen, and is not taken back. */
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

  /** Whether only the author of the kind knows its versions. */
  get #isConverted(): boolean {
    return this.#options.call.resource.custom?.webhook !== undefined;
  }

  /**
   * Its author is asked before objects are looked at; says whether it was. It is asked again about what was forgotten before it could be
   * shown, so that whoever waits for the answer has to come back here.
   */
  #ask(entries: readonly Entry[]): boolean {
    if (!this.#isConverted) return false;
    const { call, workshop } = this.#options;
    const found = entries.map((entry) => StoredObject.of(entry));
    const asked = workshop.versions.readyToShow(found, call.resource);
    if (asked === undefined) return false;
    this.#asking = {};
    const answered = (asking: { readonly error?: unknown } | undefined): void => {
      this.#asking = asking;
      this.#tell();
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
      this.#tell();
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

/** Before anybody says how to be told. */
function nobody(): void {
  // Whoever takes looks first.
}

/** What everybody sees who wants all of it, so that it is worked out, and put into bytes, once for all. */
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
