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
  /** The newest revision there is. */
  readonly head: number;
}

/** Most revisions looked at for one slice, so that a watcher that catches up never holds the loop for long. */
const SLICE_REVISIONS = 2000;

/** The next slice: whole revisions, as many as fit. */
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

  /** The events at this revision, if the next record is of it. */
  take(revision: number): readonly WatchEvent[] {
    const { record } = this;
    if (record?.revision !== revision) return [];
    this.#index += 1;
    return record.events;
  }
}
