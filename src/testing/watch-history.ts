/**
 * Checks what watchers were told against what was committed: the six watch promises (docs/concepts/revisions.md), and that
 * each event is true in itself. Pure functions over a recorded history; who records it, and against which engine or server,
 * is the caller's affair.
 */
import type { StoreErrorCode } from "../store/store-error.ts";
import type { Entry, WatchBatch, WatchEvent } from "../store/store.ts";
import { inWatchRange, replay, type PlannedEvent, type RecordedTransaction } from "./watch-replay.ts";

export type WatchPromise =
  /** Events come by revision, never backwards. */
  | "Ordered"
  /** No event comes twice in one watch. */
  | "Unique"
  /** Between two events, and between two bookmarks, nothing in range is left out. */
  | "Reliable"
  /** The events of one revision come in one batch. */
  | "Atomic"
  /** A watch after a revision begins with the very next event, or says that it cannot. */
  | "Resumable"
  /** A revision told as reached is only told once everything in range up to it was handed out. */
  | "Bookmarkable"
  /** Only keys in range. */
  | "Filter"
  /** `before` is what the key was before the revision, `after` what was committed. */
  | "BeforeAfter"
  /** Created and deleted keys are told as such; create revision and version count from the creation. */
  | "IsCreate";

/** What one watch told, in the order in which it told it. */
export type RecordedStep =
  | { readonly type: "batch"; readonly batch: WatchBatch }
  | { readonly type: "progress"; readonly revision: number };

/** One `watch` call, from opening to its end. */
export interface RecordedWatch {
  readonly name: string;
  readonly prefix: string;
  readonly after: number;
  readonly steps: readonly RecordedStep[];
  /** "Left" when the watcher itself ended it. */
  readonly end: "Left" | StoreErrorCode;
}

export interface WatchHistory {
  /** Every transaction that made a revision between the first watch's `after` and the last event. In any order. */
  readonly transactions: readonly RecordedTransaction[];
  readonly watches: readonly RecordedWatch[];
  /** The highest revision that anyone asked to compact, 0 when nobody did. */
  readonly compacted: number;
}

export interface WatchViolation {
  readonly promise: WatchPromise;
  readonly watch: string;
  readonly message: string;
}

/** All broken promises of all watches; empty when the history is as it must be. */
export function watchViolations(history: WatchHistory): WatchViolation[] {
  const planned = replay(history.transactions);
  return history.watches.flatMap((watch) => new WatchCheck(watch, planned, history.compacted).violations());
}

/** How many events all watches were told: a history without events proves nothing. */
export function countEvents(history: WatchHistory): number {
  let count = 0;
  for (const watch of history.watches) {
    for (const step of watch.steps) if (step.type === "batch") count += step.batch.events.length;
  }
  return count;
}

/**
 * Walks one watch. `#due` are the events in range that this watch owes, by revision, and `#told` the revision up to which
 * they have been told or asked for.
 */
class WatchCheck {
  readonly #watch: RecordedWatch;
  readonly #due: ReadonlyMap<number, ReadonlyMap<string, PlannedEvent>>;
  readonly #dueRevisions: readonly number[];
  readonly #compacted: number;
  readonly #found: WatchViolation[] = [];
  readonly #seen = new Set<string>();
  /** Newest revision seen in an earlier batch. */
  #batchEnd: number;
  /** Newest revision of any event so far. */
  #last: number;
  /** Everything up to here was claimed to be handed out. */
  #bookmark: number;
  /** Index in #dueRevisions of the first revision not told yet. */
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

  /** Everything due before this revision must have been told by now. */
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
        `${at} is told as ${event.after === undefined ? "deleted" : "written"} and was not`,
      );
    } else if (
      created(event.after) !== isCreated ||
      (event.before === undefined) !== (planned.before === undefined)
    ) {
      this.#report("IsCreate", `${at} is ${isCreated ? "not told as created" : "told as created"}`);
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
      this.#report("Bookmarkable", `bookmark ${revision} before revision ${missed} was told`);
    }
    this.#bookmark = Math.max(this.#bookmark, revision);
  }

  #checkEnd(): void {
    if (this.#watch.end === "Compacted" && Math.max(this.#bookmark, this.#last) >= this.#compacted) {
      this.#report("Resumable", `ended as compacted, but only ${this.#compacted} was ever compacted`);
    }
  }

  /** Reports each missed revision once: what was complained about counts as told. */
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

/** Neighbours of one revision together, in the order told. */
function runsOfRevision(events: readonly WatchEvent[]): [number, WatchEvent[]][] {
  const runs: [number, WatchEvent[]][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run !== undefined && run[0] === event.revision) run[1].push(event);
    else runs.push([event.revision, [event]]);
  }
  return runs;
}

/** What is wrong with an entry, in words; undefined when nothing is. */
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
