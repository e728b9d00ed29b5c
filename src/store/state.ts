/**
 * The state of all keys at one revision, as an immutable value, and the pure function that takes a transaction to the next.
 * Accepted head, visible head, history and forks are all kept states.
 */
import { SortedMap } from "../base/sorted-map.ts";
import type { Commit } from "./commit.ts";
import { Expiry } from "./expiry.ts";
import { groupOf } from "./key-group.ts";
import { StoreError } from "./store-error.ts";
import { MAX_CHANGES } from "./store.ts";
import type { Change, Entry, Transaction, View, WatchEvent } from "./store.ts";

export interface KeyGroup {
  readonly key: string;
  readonly entries: SortedMap<Entry>;
}

/** Live keys and the sum of their row ids: see Commit. */
export interface LiveSum {
  readonly liveCount: number;
  readonly liveSum: number;
}

/** Would be another key once it is written as UTF-8. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Row ids are `revision * MAX_CHANGES + ordinal`; sums of them stay exact below this. */
const SUM_MODULUS = 2 ** 52;

export class State implements View {
  readonly revision: number;
  readonly groups: SortedMap<KeyGroup>;
  readonly live: LiveSum;
  readonly expiry: Expiry;

  private constructor({
    revision,
    groups,
    live,
    expiry,
  }: Pick<State, "revision" | "groups" | "live" | "expiry">) {
    this.revision = revision;
    this.groups = groups;
    this.live = live;
    this.expiry = expiry;
  }

  /** As etcd, an empty store is at revision 1: 0 is free to mean "none". */
  static empty(): State {
    return State.of(1, []);
  }

  /** Only these groups, for reading: what the groups were at a revision. */
  static ofGroups(revision: number, groups: readonly KeyGroup[]): State {
    const { live, expiry } = State.empty();
    return new State({ revision, groups: SortedMap.fromSorted(groups), live, expiry });
  }

  /** From all live entries, in any order. */
  static of(revision: number, entries: Iterable<Entry>): State {
    const groups = new Map<string, Entry[]>();
    let live: LiveSum = { liveCount: 0, liveSum: 0 };
    let expiry = new Expiry();
    for (const entry of entries) {
      const group = groupOf(entry.key);
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [entry]);
      else members.push(entry);
      live = liveAfter(live, undefined, entry);
      expiry = expiry.after({ key: entry.key, before: undefined, after: entry });
    }
    const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const keyGroups = sorted.map(([key, members]) => ({ key, entries: sortedEntries(members) }));
    return new State({ revision, groups: SortedMap.fromSorted(keyGroups), live, expiry });
  }

  get(key: string): Entry | undefined {
    return this.groups.get(groupOf(key))?.entries.get(key);
  }

  *range(from: string, to: string): IterableIterator<Entry> {
    for (const group of this.#groupsIn(from, to)) yield* group.entries.range(from, to);
  }

  count(from: string, to: string): number {
    let count = 0;
    for (const group of this.#groupsIn(from, to)) count += group.entries.count(from, to);
    return count;
  }

  /** The group that holds `from` begins at or before it; the others lie between the bounds. */
  *#groupsIn(from: string, to: string): IterableIterator<KeyGroup> {
    const first = this.groups.get(groupOf(from));
    if (first !== undefined && first.key < from) yield first;
    yield* this.groups.range(from, to);
  }

  /** The next state: these entries written or, where undefined, deleted. */
  with(revision: number, changes: readonly WatchEvent[]): State {
    let groups = this.groups;
    let { live, expiry } = this;
    for (const event of changes) {
      const { key, before, after } = event;
      const name = groupOf(key);
      const entries = groups.get(name)?.entries ?? SortedMap.empty<Entry>();
      const next = after === undefined ? entries.delete(key) : entries.set(after);
      groups = next.size === 0 ? groups.delete(name) : groups.set({ key: name, entries: next });
      live = liveAfter(live, before, after);
      expiry = expiry.after(event);
    }
    return new State({ revision, groups, live, expiry });
  }
}

export interface Advance {
  readonly commit: Commit;
  readonly state: State;
}

/** What a transaction does to a state; undefined when it changes nothing. Throws `ConditionFailed` or `InvalidTransaction`. */
export function advance(state: State, transaction: Transaction, now: number): Advance | undefined {
  checkTransaction(transaction);
  for (const { key, modRevision } of transaction.compare ?? []) {
    const found = state.get(key)?.modRevision ?? 0;
    if (found !== modRevision) {
      throw new StoreError(
        "ConditionFailed",
        `expected ${key} at revision ${String(modRevision)}, found ${String(found)}`,
      );
    }
  }
  const revision = state.revision + 1;
  const events: WatchEvent[] = [];
  for (const change of transaction.changes) {
    const before = state.get(change.key);
    if (change.type === "delete" && before === undefined) continue;
    const ordinal = events.length;
    const after = change.type === "put" ? written(change, before, { revision, ordinal, now }) : undefined;
    events.push({ revision, ordinal, key: change.key, before, after });
  }
  if (events.length === 0) return undefined;
  const next = state.with(revision, events);
  return { commit: { revision, time: now, events, ...next.live }, state: next };
}

/** Throws `InvalidTransaction` for what no engine takes. */
export function checkTransaction({ changes, compare = [] }: Transaction): void {
  if (changes.length === 0 || changes.length > MAX_CHANGES || compare.length > MAX_CHANGES) {
    throw new StoreError(
      "InvalidTransaction",
      `expected 1 to ${String(MAX_CHANGES)} changes, found ${String(changes.length)}`,
    );
  }
  if (changes.length > 1 && new Set(changes.map((change) => change.key)).size < changes.length) {
    throw new StoreError("InvalidTransaction", "expected each key in one change, found one in several");
  }
  for (const { key } of changes) {
    if (key === "" || LONE_SURROGATE.test(key)) {
      throw new StoreError(
        "InvalidTransaction",
        `expected well-formed text as a key, found ${JSON.stringify(key)}`,
      );
    }
  }
}

interface Moment {
  readonly revision: number;
  readonly ordinal: number;
  readonly now: number;
}

function written(
  put: Change & { type: "put" },
  before: Entry | undefined,
  { revision, ordinal, now }: Moment,
): Entry {
  return {
    key: put.key,
    value: put.value,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
    ordinal,
    expiresAt: put.ttlMs === undefined ? undefined : now + put.ttlMs,
    slot: put.slot,
  };
}

export function rowId(entry: Entry): number {
  return entry.modRevision * MAX_CHANGES + entry.ordinal;
}

function liveAfter(live: LiveSum, before: Entry | undefined, after: Entry | undefined): LiveSum {
  const minus = before === undefined ? 0 : rowId(before) % SUM_MODULUS;
  const plus = after === undefined ? 0 : rowId(after) % SUM_MODULUS;
  return {
    liveCount: live.liveCount - (before === undefined ? 0 : 1) + (after === undefined ? 0 : 1),
    liveSum: (((live.liveSum - minus + SUM_MODULUS) % SUM_MODULUS) + plus) % SUM_MODULUS,
  };
}

function sortedEntries(entries: Entry[]): SortedMap<Entry> {
  return SortedMap.fromSorted(entries.toSorted((a, b) => (a.key < b.key ? -1 : 1)));
}

/** The state before these events, the newest of which is the last that happened to it. */
export function rewind(state: State, events: readonly WatchEvent[]): State {
  const undone = events.toReversed().map((event) => ({ ...event, before: event.after, after: event.before }));
  return state.with(state.revision, undone);
}
