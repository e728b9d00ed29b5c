/** The simplest store: an array of states, one per revision. The property run compares engines with it. */
import type { Compare } from "../../src/store/store.ts";
import {
  applyTo,
  inWatchRange,
  type PlannedEntry,
  type PlannedEvent,
  type RecordedTransaction,
} from "../../src/testing/watch-replay.ts";

export interface ModelState {
  readonly revision: number;
  readonly entries: ReadonlyMap<string, PlannedEntry>;
}

export class StoreModel {
  readonly #states: ModelState[];
  readonly #events: PlannedEvent[] = [];
  /** Earliest expiry of each key with a time to live. */
  readonly #ends = new Map<string, number>();
  #compacted = 0;

  constructor(revision: number) {
    this.#states = [{ revision, entries: new Map() }];
  }

  get newest(): ModelState {
    return this.#states.at(-1) ?? { revision: 0, entries: new Map() };
  }

  /** Revisions that a reader may ask for, oldest first. */
  get revisions(): readonly number[] {
    return this.#states.map((state) => state.revision);
  }

  get compacted(): number {
    return this.#compacted;
  }

  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
  }

  stateAt(revision: number): ModelState {
    return this.#states.findLast((state) => state.revision <= revision) ?? this.newest;
  }

  eventsAfter(revision: number, prefix: string): PlannedEvent[] {
    return this.#events.filter((event) => event.revision > revision && inWatchRange(event.key, prefix));
  }

  holds(compare: readonly Compare[]): boolean {
    const { entries } = this.newest;
    return compare.every(({ key, modRevision }) => (entries.get(key)?.modRevision ?? 0) === modRevision);
  }

  commit(transaction: RecordedTransaction, ends: ReadonlyMap<string, number>): void {
    if (transaction.revision <= this.newest.revision) {
      throw new Error(`revision ${transaction.revision} is not above ${this.newest.revision}`);
    }
    const entries = new Map(this.newest.entries);
    this.#events.push(...applyTo(entries, transaction));
    this.#states.push({ revision: transaction.revision, entries });
    for (const { key } of transaction.changes) {
      const end = ends.get(key);
      if (end === undefined) this.#ends.delete(key);
      else this.#ends.set(key, end);
    }
  }

  /** Keys that were due by `now`. */
  dueBy(now: number): string[] {
    return [...this.#ends].filter(([, end]) => end <= now).map(([key]) => key);
  }
}
