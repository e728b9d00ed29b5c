/**
 * The state of all keys at one revision as an immutable value, and the editor that applies many changes to it. The
 * visible head, history and forks are states; the accepted head is an editor.
 */
import { SortedMap } from "../base/collections/sorted-map.ts";
import type { SortedMapEditor } from "../base/collections/sorted-map.ts";
import type { Commit } from "./commit.ts";
import { Expiry } from "./expiry.ts";
import { groupOf } from "./key-group.ts";
import { entryBytes, growthOf } from "./space.ts";
import { MAX_CHANGES } from "./store.ts";
import type { Entry, Mark, MarkedChange, View, WatchEvent } from "./store.ts";

export interface KeyGroup {
  readonly key: string;
  readonly entries: SortedMap<Entry>;
}

/** Number of live keys and the sum of their row ids: see Commit. */
export interface LiveTotals {
  readonly liveCount: number;
  readonly liveSum: number;
  /** Estimated memory of the live entries: see space.ts. */
  readonly liveBytes: number;
}

/** Modulus of the sums of row ids. Row ids are `revision * MAX_CHANGES + ordinal`; sums stay exact below this. */
const SUM_MODULUS = 2 ** 52;

/** Empty content of a missing group, shared by all states. */
const NOTHING = SortedMap.empty<Entry>();

export class State implements View {
  readonly revision: number;
  readonly groups: SortedMap<KeyGroup>;
  readonly live: LiveTotals;
  readonly expiry: Expiry;

  /** For the editor; other callers use one of the functions below. */
  constructor({ revision, groups, live, expiry }: Pick<State, "revision" | "groups" | "live" | "expiry">) {
    this.revision = revision;
    this.groups = groups;
    this.live = live;
    this.expiry = expiry;
  }

  /** Like etcd, an empty store is at revision 1, so that 0 can mean "none". */
  static empty(): State {
    return State.of(1, []);
  }

  /** State of these groups only, for reads at an older revision. */
  static ofGroups(revision: number, groups: readonly KeyGroup[]): State {
    const { live, expiry } = State.empty();
    return new State({ revision, groups: SortedMap.fromSorted(groups), live, expiry });
  }

  /** State of all given live entries, in any order. */
  static of(revision: number, entries: Iterable<Entry>): State {
    const groups = new Map<string, Entry[]>();
    let liveCount = 0;
    let liveSum = 0;
    let liveBytes = 0;
    let expiry = new Expiry();
    for (const entry of entries) {
      const group = groupOf(entry.key);
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [entry]);
      else members.push(entry);
      liveCount += 1;
      liveSum = sumAfter(liveSum, undefined, entry);
      liveBytes += entryBytes(entry);
      expiry = expiry.after({ key: entry.key, before: undefined, after: entry });
    }
    const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const keyGroups = sorted.map(([key, members]) => ({ key, entries: sortedEntries(members) }));
    const live = { liveCount, liveSum, liveBytes };
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

  mark(prefix: string): Mark {
    // To callers a mark is opaque: they compare and keep it.
    return this.#marked(prefix) as unknown as Mark;
  }

  changesSince(mark: Mark, prefix: string): Iterable<MarkedChange> {
    // Safe: marks come from `mark` alone.
    return this.#marked(prefix).differences(mark as unknown as SortedMap<Entry>);
  }

  #marked(prefix: string): SortedMap<Entry> {
    return this.groups.get(groupOf(prefix))?.entries ?? NOTHING;
  }

  /** The group of `from` begins at or before it; the other groups are between the bounds. */
  *#groupsIn(from: string, to: string): IterableIterator<KeyGroup> {
    const first = this.groups.get(groupOf(from));
    if (first !== undefined && first.key < from) yield first;
    yield* this.groups.range(from, to);
  }

  /** The next state: these entries written or, if undefined, deleted. */
  with(revision: number, changes: readonly WatchEvent[]): State {
    const editor = new StateEditor(this);
    editor.apply(revision, changes);
    return editor.state();
  }
}

/** A mutable state. A map is copied once for many changes. Only states returned by `state` are safe from later changes. */
export class StateEditor {
  #kept: State;
  /** Groups changed since `#kept`. */
  readonly #changed = new Map<string, SortedMapEditor<Entry>>();
  #revision: number;
  #liveCount: number;
  #liveSum: number;
  #liveBytes: number;
  #expiry: Expiry;

  constructor(state: State) {
    this.#kept = state;
    this.#revision = state.revision;
    this.#liveCount = state.live.liveCount;
    this.#liveSum = state.live.liveSum;
    this.#liveBytes = state.live.liveBytes;
    this.#expiry = state.expiry;
  }

  get revision(): number {
    return this.#revision;
  }

  get liveCount(): number {
    return this.#liveCount;
  }

  get liveSum(): number {
    return this.#liveSum;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get expiry(): Expiry {
    return this.#expiry;
  }

  get(key: string): Entry | undefined {
    const group = groupOf(key);
    return (this.#changed.get(group) ?? this.#kept.groups.get(group)?.entries)?.get(key);
  }

  mark(prefix: string): Mark {
    const isChanged = this.#changed.size > 0 && this.#changed.has(groupOf(prefix));
    return (isChanged ? this.state() : this.#kept).mark(prefix);
  }

  apply(revision: number, changes: readonly WatchEvent[]): void {
    this.#revision = revision;
    this.#liveBytes += growthOf(changes).bytes;
    for (const event of changes) {
      const { key, before, after } = event;
      const entries = this.#edit(groupOf(key));
      if (after === undefined) entries.delete(key);
      else entries.set(after);
      this.#liveCount = countAfter(this.#liveCount, before, after);
      this.#liveSum = sumAfter(this.#liveSum, before, after);
      this.#expiry = this.#expiry.after(event);
    }
  }

  /** The current state; the same value until the next change. */
  state(): State {
    if (this.#kept.revision === this.#revision && this.#changed.size === 0) return this.#kept;
    let { groups } = this.#kept;
    for (const [key, editor] of this.#changed) {
      const entries = editor.map();
      groups = entries.size === 0 ? groups.delete(key) : groups.set({ key, entries });
    }
    this.#changed.clear();
    const live = { liveCount: this.#liveCount, liveSum: this.#liveSum, liveBytes: this.#liveBytes };
    this.#kept = new State({ revision: this.#revision, groups, live, expiry: this.#expiry });
    return this.#kept;
  }

  #edit(group: string): SortedMapEditor<Entry> {
    const known = this.#changed.get(group);
    if (known !== undefined) return known;
    const entries = this.#kept.groups.get(group)?.entries ?? SortedMap.empty<Entry>();
    const editor = entries.edit();
    this.#changed.set(group, editor);
    return editor;
  }
}

/** Consecutive commits, and the state after the last. */
export interface Advance {
  readonly commits: readonly Commit[];
  readonly state: State;
}

export function rowId(entry: Entry): number {
  return entry.modRevision * MAX_CHANGES + entry.ordinal;
}

function countAfter(count: number, before: Entry | undefined, after: Entry | undefined): number {
  return count - (before === undefined ? 0 : 1) + (after === undefined ? 0 : 1);
}

function sumAfter(sum: number, before: Entry | undefined, after: Entry | undefined): number {
  const minus = before === undefined ? 0 : rowId(before) % SUM_MODULUS;
  const plus = after === undefined ? 0 : rowId(after) % SUM_MODULUS;
  return (((sum - minus + SUM_MODULUS) % SUM_MODULUS) + plus) % SUM_MODULUS;
}

function sortedEntries(entries: Entry[]): SortedMap<Entry> {
  return SortedMap.fromSorted(entries.toSorted((a, b) => (a.key < b.key ? -1 : 1)));
}

/** The state before these events; the last event must be the newest of the state. */
export function rewind(state: State, events: readonly WatchEvent[]): State {
  const undone = events.toReversed().map((event) => ({ ...event, before: event.after, after: event.before }));
  return state.with(state.revision, undone);
}
