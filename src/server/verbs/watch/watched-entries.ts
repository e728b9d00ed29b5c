/**
 * The entries that a watch reads from the store: the existing objects in pieces, then the changes. Also the events that
 * a watcher with a filter gets for them.
 */
import { piecesOf } from "../../../base/collections/pieces.ts";
import type { Entry, Watch, WatchEvent } from "../../../store/store.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { WatchEventAnswer } from "../../request/answer.ts";
import type { ObjectFilter } from "../read/object-filter.ts";

/** Objects in one piece, so that watches of many objects take turns. After a start, reading a pod takes a tenth of a millisecond. */
export const PIECE_OBJECTS = 100;

export type WatchItem =
  | { readonly type: "existing"; readonly entries: readonly Entry[] }
  /** All existing objects were read. Comes once, before the first change, also in a watch without existing objects. */
  | { readonly type: "caught up" }
  | { readonly type: "changes"; readonly events: readonly WatchEvent[] };

export interface WatchedEntries {
  /** All changes up to this revision were returned by `take`. Existing objects are not counted. */
  readonly revision: number;
  /** Undefined while no item is available. Throws the errors of the store's watch. */
  take(): WatchItem | "end" | undefined;
}

export class StoreEntries implements WatchedEntries {
  readonly #watching: Watch;
  /** Dropped once it is read, because it keeps the whole state in memory. */
  #pieces: Iterator<readonly Entry[], undefined> | undefined;

  /** `existing` is undefined for a watch that begins with changes. */
  constructor(watching: Watch, existing: Iterable<Entry> | undefined) {
    this.#watching = watching;
    this.#pieces = piecesOf(existing ?? [], PIECE_OBJECTS);
  }

  get revision(): number {
    return this.#watching.revision;
  }

  take(): WatchItem | "end" | undefined {
    if (this.#pieces !== undefined) return this.#existing(this.#pieces);
    const batch = this.#watching.take();
    if (batch === undefined || batch === "end") return batch;
    return { type: "changes", events: batch.events };
  }

  #existing(pieces: Iterator<readonly Entry[], undefined>): WatchItem {
    const entries = pieces.next().value;
    if (entries !== undefined) return { type: "existing", entries };
    this.#pieces = undefined;
    return { type: "caught up" };
  }
}

/** The entries that a client sees of an item. */
export function entriesIn(item: WatchItem): readonly Entry[] {
  if (item.type === "caught up") return [];
  if (item.type === "existing") return item.entries;
  return item.events.flatMap(({ before, after }) => [before, after]).filter((entry) => entry !== undefined);
}

/** Existing objects arrive as ADDED. */
export function eventsOfExisting(
  entries: readonly Entry[],
  filter: ObjectFilter | undefined,
): readonly WatchEventAnswer[] {
  const events: WatchEventAnswer[] = [];
  for (const entry of entries) {
    const stored = StoredObject.of(entry);
    if (filter === undefined || filter(stored)) events.push({ type: "ADDED", stored });
  }
  return events;
}

/** Answers that watchers of the same events with the same filter share. The server computes and encodes them once. */
const seenBy = new WeakMap<
  readonly WatchEvent[],
  Map<ObjectFilter | undefined, readonly WatchEventAnswer[]>
>();

export function eventsOfChanges(
  changes: readonly WatchEvent[],
  filter: ObjectFilter | undefined,
): readonly WatchEventAnswer[] {
  const byFilter = seenBy.get(changes) ?? new Map<ObjectFilter | undefined, readonly WatchEventAnswer[]>();
  const known = byFilter.get(filter);
  if (known !== undefined) return known;
  const events: WatchEventAnswer[] = [];
  for (const change of changes) {
    const event = eventOf(change, filter);
    if (event !== undefined) events.push(event);
  }
  if (byFilter.size === 0) seenBy.set(changes, byFilter);
  byFilter.set(filter, events);
  return events;
}

/**
 * An object that begins to match arrives as ADDED, one that stops matching as DELETED with its last matching state and
 * the revision of the change.
 */
function eventOf(
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
