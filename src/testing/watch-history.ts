/**
 * Checks recorded watches against the committed transactions: the six promises of watches
 * (docs/concepts/revisions.md), and the content of each event. Pure functions over a recorded history of any engine
 * or server.
 */
import type { StoreErrorCode } from "../store/store-error.ts";
import type { Entry, WatchBatch, WatchEvent } from "../store/store.ts";
import { inWatchRange, replay, type PlannedEvent, type RecordedTransaction } from "./watch-replay.ts";

/** A promise that a watch makes. */
export type WatchPromise =
  /** Events come in order of their revisions. */
  | "Ordered"
  /** No event comes twice in one watch. */
  | "Unique"
  /** No event in range is missing between two events or two bookmarks. */
  | "Reliable"
  /** All events of one revision come in one batch. */
  | "Atomic"
  /** A watch after a revision starts with the very next event, or fails. */
  | "Resumable"
  /** A bookmark comes only after all events in range up to its revision. */
  | "Bookmarkable"
  /** Only events of keys in range come. */
  | "Filter"
  /** `before` is the entry before the revision, `after` the committed one. */
  | "BeforeAfter"
  /** Creations and deletions are marked; createRevision and version count from the creation. */
  | "IsCreate";

/** One step of a recorded watch. */
export type RecordedStep =
  | { readonly type: "batch"; readonly batch: WatchBatch }
  | { readonly type: "progress"; readonly revision: number };

/** One `watch` call, from its start to its end. */
export interface RecordedWatch {
  /** Name of the watch in violations. */
  readonly name: string;
  /** Range of the watch: all keys (""), the keys below a prefix that ends with a slash, or one key. */
  readonly prefix: string;
  /** Revision after which the watch starts. */
  readonly after: number;
  /** The delivered steps, in order. */
  readonly steps: readonly RecordedStep[];
  /** Error code of the end; "Left" when the watcher closed the watch. */
  readonly end: "Left" | StoreErrorCode;
}

/** Committed transactions and recorded watches. */
export interface WatchHistory {
  /** Every transaction between the first watch's `after` and the last event. In any order. */
  readonly transactions: readonly RecordedTransaction[];
  readonly watches: readonly RecordedWatch[];
  /** Highest revision whose compaction was requested; 0 for none. */
  readonly compacted: number;
}

/** A broken promise. */
export interface WatchViolation {
  readonly promise: WatchPromise;
  /** Name of the watch. */
  readonly watch: string;
  readonly message: string;
}

/** All violations of all watches; empty when every watch kept its promises. */
export function watchViolations(history: WatchHistory): WatchViolation[] {
  const planned = replay(history.transactions);
  return history.watches.flatMap((watch) => new WatchCheck(watch, planned, history.compacted).violations());
}

/** Number of events in all watches. A history without events proves nothing. */
export function countEvents(history: WatchHistory): number {
  let count = 0;
  for (const watch of history.watches) {
    for (const step of watch.steps) if (step.type === "batch") count += step.batch.events.length;
  }
  return count;
}

/**
 * Checks one watch. `#due` has the events that the watch must deliver, by revision. `#next` is the first due revision
 * that it has not delivered or reported.
 */
class WatchCheck {
  readonly #watch: RecordedWatch;
  readonly #due: ReadonlyMap<number, ReadonlyMap<string, PlannedEvent>>;
  readonly #dueRevisions: readonly number[];
  readonly #compacted: number;
  readonly #found: WatchViolation[] = [];
  readonly #seen = new Set<string>();
  /** Newest revision of the earlier batches. */
  #batchEnd: number;
  /** Newest revision of any event so far. */
  #last: number;
  /** Revision up to which the watch claims to have delivered everything. */
  #bookmark: number;
  /** Index in #dueRevisions of the first revision that was not delivered. */
  #next = 0;

  constructor(watch: RecordedWatch, planned: readonly PlannedEvent[], compacted: number) {
    this.#watch = watch;
    this.#compacted = compacted;
    this.#due = byRevision(planned.filter((event) => isDue(event, watch)));
    this.#dueRevisions = [...this.#due.keys()];
    this.#batchEnd = watch.after;
    this.#last = watch.after;
    this.#bookmark = watch.after;
  }

  violations(): WatchViolation[] {
    for (const step of this.#watch.steps) {
      if (step.type === "progress") this.#checkBookmark(step.revision);
      else this.#checkBatch(step.batch);
    }
    this.#checkEnd();
    return this.#found;
  }

  #checkBatch(batch: WatchBatch): void {
    for (const [revision, events] of runsOfRevision(batch.events)) {
      this.#checkOrder(revision);
      this.#checkGap(revision);
      this.#checkWhole(revision, events);
      for (const event of events) this.#checkEvent(event);
      this.#last = Math.max(this.#last, revision);
    }
    this.#batchEnd = Math.max(this.#batchEnd, this.#last);
    this.#checkBookmark(batch.revision);
  }

  #checkOrder(revision: number): void {
    if (revision <= this.#watch.after) {
      this.#report("Resumable", `event of revision ${revision} in a watch after ${this.#watch.after}`);
      return;
    }
    if (revision < this.#last) this.#report("Ordered", `revision ${revision} after ${this.#last}`);
    if (revision <= this.#bookmark) {
      this.#report("Bookmarkable", `revision ${revision} after the bookmark ${this.#bookmark}`);
    }
  }

  /** Reports due revisions below this one that were not delivered. */
  #checkGap(revision: number): void {
    const promise = this.#last === this.#watch.after ? "Resumable" : "Reliable";
    for (const missed of this.#takeDueBelow(revision)) {
      this.#report(promise, `revision ${missed} is missing before ${revision}`);
    }
  }

  #checkWhole(revision: number, events: readonly WatchEvent[]): void {
    const due = this.#due.get(revision);
    if (revision === this.#batchEnd && revision > this.#watch.after) {
      this.#report("Atomic", `revision ${revision} is split over two batches`);
      return;
    }
    if (this.#dueRevisions[this.#next] === revision) this.#next += 1;
    const told = new Set(events.map((event) => event.key));
    for (const key of due?.keys() ?? []) {
      if (!told.has(key)) this.#report("Atomic", `revision ${revision} comes without its change of ${key}`);
    }
  }

  #checkEvent(event: WatchEvent): void {
    const id = `${event.revision} ${event.key}`;
    if (this.#seen.has(id)) this.#report("Unique", `${event.key} at revision ${event.revision} comes twice`);
    this.#seen.add(id);
    if (!inWatchRange(event.key, this.#watch.prefix)) {
      this.#report("Filter", `${event.key} is outside ${this.#watch.prefix}`);
      return;
    }
    const planned = this.#due.get(event.revision)?.get(event.key);
    if (planned === undefined && event.revision > this.#watch.after) {
      this.#report("Reliable", `${event.key} at revision ${event.revision} was never committed`);
    }
    if (planned !== undefined) this.#checkTruth(event, planned);
  }

  #checkTruth(event: WatchEvent, planned: PlannedEvent): void {
    const at = `${event.key} at revision ${event.revision}`;
    const created = (told: Entry | undefined): boolean =>
      told?.createRevision === event.revision && told.version === 1;
    const isCreated = planned.after !== undefined && planned.before === undefined;
    if ((planned.after === undefined) !== (event.after === undefined)) {
      this.#report(
        "IsCreate",
        `${at} is reported as ${event.after === undefined ? "deleted" : "written"} and was not`,
      );
    } else if (
      created(event.after) !== isCreated ||
      (event.before === undefined) !== (planned.before === undefined)
    ) {
      this.#report("IsCreate", `${at} is ${isCreated ? "not reported as created" : "reported as created"}`);
    }
    const wrong = [difference(event.before, planned.before), difference(event.after, planned.after)];
    if (wrong[0] !== undefined) this.#report("BeforeAfter", `before of ${at}: ${wrong[0]}`);
    if (wrong[1] !== undefined) this.#report("BeforeAfter", `after of ${at}: ${wrong[1]}`);
  }

  #checkBookmark(revision: number): void {
    if (revision < this.#bookmark)
      this.#report("Bookmarkable", `bookmark ${revision} after bookmark ${this.#bookmark}`);
    if (revision < this.#last)
      this.#report("Bookmarkable", `bookmark ${revision} after an event of ${this.#last}`);
    for (const missed of this.#takeDueBelow(revision + 1)) {
      this.#report("Bookmarkable", `bookmark ${revision} before revision ${missed}`);
    }
    this.#bookmark = Math.max(this.#bookmark, revision);
  }

  #checkEnd(): void {
    if (this.#watch.end === "Compacted" && Math.max(this.#bookmark, this.#last) >= this.#compacted) {
      this.#report("Resumable", `ended as compacted, but only ${this.#compacted} was ever compacted`);
    }
  }

  /** Returns each missing revision once: a reported revision counts as delivered. */
  #takeDueBelow(revision: number): number[] {
    const missed: number[] = [];
    for (;;) {
      const due = this.#dueRevisions[this.#next];
      if (due === undefined || due >= revision) return missed;
      missed.push(due);
      this.#next += 1;
    }
  }

  #report(promise: WatchPromise, message: string): void {
    this.#found.push({ promise, watch: this.#watch.name, message });
  }
}

function isDue(event: PlannedEvent, watch: RecordedWatch): boolean {
  return event.revision > watch.after && inWatchRange(event.key, watch.prefix);
}

function byRevision(events: readonly PlannedEvent[]): Map<number, Map<string, PlannedEvent>> {
  const revisions = new Map<number, Map<string, PlannedEvent>>();
  for (const event of events) {
    const keys = revisions.get(event.revision) ?? new Map<string, PlannedEvent>();
    revisions.set(event.revision, keys.set(event.key, event));
  }
  return revisions;
}

/** Groups adjacent events of one revision, in the order delivered. */
function runsOfRevision(events: readonly WatchEvent[]): [number, WatchEvent[]][] {
  const runs: [number, WatchEvent[]][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run !== undefined && run[0] === event.revision) run[1].push(event);
    else runs.push([event.revision, [event]]);
  }
  return runs;
}

/** Difference between an entry and the planned one, as text; undefined when they are equal. */
function difference(told: Entry | undefined, planned: PlannedEvent["after"]): string | undefined {
  if (told === undefined || planned === undefined) {
    return told === planned ? undefined : `is ${told === undefined ? "missing" : "there and should not be"}`;
  }
  if (!sameBytes(told.value, planned.value)) return "has another value";
  for (const field of ["key", "modRevision", "createRevision", "version"] as const) {
    if (told[field] !== planned[field]) return `${field} is ${told[field]} instead of ${planned[field]}`;
  }
  return undefined;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
