/** Merges the histories of several groups by revision. */
import type { GroupHistory, HistoryRecord } from "./group-history.ts";
import { isUnder } from "./key-group.ts";
import type { WatchEvent } from "./store.ts";

/** All events under a prefix with `after < revision <= through`, by revision and place in the transaction. */
export interface HistorySlice {
  readonly events: readonly WatchEvent[];
  readonly through: number;
}

export interface SliceBounds {
  readonly after: number;
  readonly prefix: string;
  /** Newest revision of the store. */
  readonly head: number;
}

/** Upper bound of revisions per slice, so that a watcher that catches up does not block the loop. */
const SLICE_REVISIONS = 2000;

/** Returns the next slice: whole revisions, as many as fit. */
export function sliceOf(groups: Iterable<GroupHistory>, { after, prefix, head }: SliceBounds): HistorySlice {
  const cursors = Array.from(groups, (group) => new Cursor(group, after));
  const events: WatchEvent[] = [];
  let through = after;
  for (let looked = 0; looked < SLICE_REVISIONS; looked++) {
    const revision = Math.min(...cursors.map((cursor) => cursor.record?.revision ?? Infinity));
    if (revision === Infinity) return { events, through: head };
    const found = cursors
      .flatMap((cursor) => cursor.take(revision))
      .filter((event) => isUnder(event.key, prefix));
    events.push(...found.toSorted((a, b) => a.ordinal - b.ordinal));
    through = revision;
  }
  return { events, through };
}

class Cursor {
  readonly #group: GroupHistory;
  #index: number;

  constructor(group: GroupHistory, after: number) {
    this.#group = group;
    this.#index = group.indexAfter(after);
  }

  get record(): HistoryRecord | undefined {
    return this.#group.record(this.#index);
  }

  /** Events of the next record if it has this revision. */
  take(revision: number): readonly WatchEvent[] {
    const { record } = this;
    if (record?.revision !== revision) return [];
    this.#index += 1;
    return record.events;
  }
}
