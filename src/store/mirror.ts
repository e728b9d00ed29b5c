/**
 * The visible side of a store, the same for all engines: the newest visible state, its history and its watchers.
 * Engines decide on changes; the mirror publishes them. All reads come from here, in revision order.
 */
import type { Loop } from "../base/loop/loop.ts";
import type { Archive } from "./archive.ts";
import { History } from "./history.ts";
import type { HistoryOptions } from "./history.ts";
import { rewind, State } from "./state.ts";
import type { Advance } from "./state.ts";
import { StoreError } from "./store-error.ts";
import { eventsUnder, StoreWatch } from "./store-watch.ts";
import type { EventSlice, WatchSource } from "./store-watch.ts";
import type { PastChange, View, Watch, WatchEvent, WatchOptions } from "./store.ts";
import { WatchHub } from "./watch-hub.ts";
import type { Receiver } from "./watch-hub.ts";

export interface MirrorOptions {
  readonly loop: Loop;
  readonly history?: HistoryOptions;
  readonly archive?: Archive;
}

/** Interval at which history is checked for records older than the window. */
const EXPIRE_EVERY_MS = 10_000;

export class Mirror implements WatchSource {
  readonly loop: Loop;
  readonly #archive: Archive | undefined;
  readonly #hub = new WatchHub();
  readonly #watchers = new Set<StoreWatch>();
  #state: State;
  #history: History;
  readonly #historyOptions: HistoryOptions;
  #expireAt = 0;

  /** Starts with a state whose past is unknown, except for the archive. */
  constructor({ loop, history, archive }: MirrorOptions, state: State) {
    this.loop = loop;
    this.#archive = archive;
    this.#historyOptions = history ?? {};
    this.#state = state;
    this.#history = new History(this.#historyOptions, state.revision);
  }

  get state(): State {
    return this.#state;
  }

  get revision(): number {
    return this.#state.revision;
  }

  /** Estimated memory of all that readers see: live entries and history. */
  get usedBytes(): number {
    return this.#state.live.liveBytes + this.#history.bytes;
  }

  get historyBytes(): number {
    return this.#history.bytes;
  }

  /** Drops history older than its window, also when no commits arrive to do so. */
  expire(): void {
    this.#history.expire(this.loop.now());
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }

  /** Makes commits visible: first the state, then the watchers. Each commit must follow the previous one. */
  publish({ commits, state }: Advance): void {
    const last = commits.at(-1);
    if (last === undefined) return;
    let { revision } = this.#state;
    for (const commit of commits) {
      if (commit.revision <= revision)
        throw new Error(`revision ${String(commit.revision)} was visible before`);
      ({ revision } = commit);
    }
    this.#history.append(commits, this.#state, state);
    this.#state = state;
    if (last.time >= this.#expireAt) {
      this.#history.expire(last.time);
      this.#expireAt = last.time + EXPIRE_EVERY_MS;
    }
    this.#hub.publish(commits);
  }

  /** Advances the visible revision past a revision without changes to this store's keys: etcd counts other keys too. */
  skipTo(revision: number): void {
    if (revision > this.#state.revision) this.#state = this.#state.with(revision, []);
  }

  /** Starts over with a state whose past is unknown; all watches end with `Compacted`. */
  reset(state: State): void {
    this.#state = state;
    this.#history = new History(this.#historyOptions, state.revision);
    for (const watcher of this.#watchers) watcher.end(compacted(state.revision, state.revision));
  }

  async at(revision: number, prefix: string): Promise<View> {
    this.#checkReached(revision);
    const floor = this.#history.floor(prefix);
    if (revision >= floor)
      return State.ofGroups(revision, this.#history.groupsAt(revision, prefix, this.#state));
    const atFloor = State.ofGroups(revision, this.#history.groupsAt(floor, prefix, this.#state));
    return rewind(atFloor, await this.#archived({ after: revision, through: floor }, prefix));
  }

  async change(revision: number, key: string): Promise<PastChange | undefined> {
    this.#checkReached(revision);
    const floor = this.#history.floor(key);
    if (revision > floor) return this.#history.find(revision, key);
    if (this.#archive === undefined || revision <= this.#archive.floor) throw compacted(revision, floor);
    const { commits } = await this.#archive.read(revision - 1, revision);
    const commit = commits.find((each) => each.revision === revision);
    const event = commit?.events.find((each) => each.key === key);
    return event === undefined ? undefined : { ...event, time: commit?.time };
  }

  #checkReached(revision: number): void {
    if (revision <= this.revision) return;
    throw new StoreError(
      "FutureRevision",
      `revision ${String(revision)} is not there yet, the newest is ${String(this.revision)}`,
    );
  }

  watch(options: WatchOptions): Watch {
    const floor = this.#history.floor(options.prefix);
    if (options.after < floor && options.after < (this.#archive?.floor ?? Infinity))
      throw compacted(options.after, floor);
    const watcher = new StoreWatch(this, options);
    this.#watchers.add(watcher);
    return watcher;
  }

  compact(revision: number): void {
    this.#history.compact(Math.min(revision, this.revision));
  }

  /** Ends all watches. */
  end(error: StoreError): void {
    for (const watcher of this.#watchers) watcher.end(error);
  }

  /** Returns an independent mirror with the same state and past, and no watchers. */
  fork(loop: Loop): Mirror {
    const options = { loop, history: this.#historyOptions };
    const fork = new Mirror(
      this.#archive === undefined ? options : { ...options, archive: this.#archive },
      this.#state,
    );
    fork.#history = this.#history.copy();
    return fork;
  }

  pull(after: number, prefix: string): EventSlice | Promise<EventSlice> {
    const floor = this.#history.floor(prefix);
    return after >= floor
      ? this.#history.slice(after, prefix, this.revision)
      : this.#pullArchived(after, prefix);
  }

  join(prefix: string, receiver: Receiver): void {
    this.#hub.add(prefix, receiver);
  }

  joined(batches: readonly (readonly WatchEvent[])[]): readonly WatchEvent[] {
    return this.#hub.joined(batches);
  }

  leave(prefix: string, receiver: Receiver): void {
    this.#hub.remove(prefix, receiver);
    if (receiver instanceof StoreWatch) this.#watchers.delete(receiver);
  }

  async #pullArchived(after: number, prefix: string): Promise<EventSlice> {
    const floor = this.#history.floor(prefix);
    if (this.#archive === undefined) throw compacted(after, floor);
    const { commits, through } = await this.#archive.read(after, floor);
    return {
      events: eventsUnder(
        commits.flatMap((commit) => commit.events),
        prefix,
      ),
      through,
    };
  }

  async #archived(span: { after: number; through: number }, prefix: string): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let position = span.after; position < span.through;) {
      const slice = await this.#pullArchived(position, prefix);
      for (const event of slice.events) if (event.revision <= span.through) events.push(event);
      position = slice.through;
    }
    return events;
  }
}

function compacted(revision: number, floor: number): StoreError {
  return new StoreError(
    "Compacted",
    `revision ${String(revision)} is no longer kept, the oldest is ${String(floor)}: read the newest state and go on from there`,
    { floor },
  );
}
