/**
 * The newest state that the watch of a kind has delivered. It changes only when the watcher delivers a batch. A large
 * batch is applied in slices, in a step each. Listeners run after each slice, so that they never read a state older
 * than the change they receive.
 */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import { SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import { runToEnd, type YieldingWork } from "../../base/loop/yielding-work.ts";
import { endableSignal } from "../../client/call-signal.ts";
import { isNumber } from "../refs/resource-version.ts";
import type { WatcherChange, WatcherEvent } from "../watch/watcher-event.ts";
import { CacheContent } from "./cache-content.ts";
import { SeenVersions } from "./cache-versions.ts";
import type { CacheFilter, CacheView, IndexFunction } from "./cache-view.ts";
import type { ObjectChange } from "./object-change.ts";

/** Receives one change of a cached object. Must not throw; an error is logged. */
export type CacheListener<T extends ApiObject> = (change: ObjectChange<T>) => void;

interface Subscription<T extends ApiObject> {
  readonly listener: CacheListener<T>;
  hasLeft: boolean;
}

interface Waiter {
  readonly version: string | undefined;
  readonly resolve: () => void;
}

/** Cache of one kind, kept current by a watch. */
export class Cache<T extends ApiObject> implements CacheView<T> {
  readonly #log: Log;
  readonly #content: CacheContent<T>;
  readonly #seen = new SeenVersions();
  /** Replaced, never mutated: a notification iterates over the list as it was. */
  #subscriptions: readonly Subscription<T>[] = [];
  readonly #waiters = new Set<Waiter>();

  constructor(log: Log) {
    this.#log = log;
    this.#content = new CacheContent(log);
  }

  /** True once the cache has received a complete state. Before that, a missing object may exist nevertheless. */
  get hasSynced(): boolean {
    return this.#seen.newest !== undefined;
  }

  /** The newest resourceVersion seen of this kind; undefined before the first state. */
  get resourceVersion(): string | undefined {
    return this.#seen.newest;
  }

  get size(): number {
    return this.#content.size;
  }

  find(key: ObjectKey): T | undefined {
    return this.#content.find(key);
  }

  /** Objects that reads have visited so far. */
  get visited(): number {
    return this.#content.visited;
  }

  list(filter?: CacheFilter): readonly T[] {
    return this.#content.list(filter);
  }

  select(filter: CacheFilter): YieldingWork<readonly T[]> {
    return this.#content.select(filter);
  }

  countIn(namespace: string): number {
    return this.#content.countIn(namespace);
  }

  walk(namespace?: string): Iterable<T> {
    return this.#content.walk(namespace);
  }

  ownedBy(owner: ApiObject): readonly T[] {
    return this.#content.ownedBy(owner);
  }

  uncontrolled(namespace: string): readonly T[] {
    return this.#content.uncontrolled(namespace);
  }

  dependentsOf(uid: string): readonly T[] {
    return this.#content.dependentsOf(uid);
  }

  indexed(index: string, value: string): readonly T[] {
    return this.#content.indexed(index, value);
  }

  indexValues(index: string): Iterable<string> {
    return this.#content.indexValues(index);
  }

  /** Adds an index at any time. Adding the same function under the same name again is a no-op. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#content.addIndex(name, valuesOf);
  }

  /** Creates the index of `ownedBy` and `uncontrolled` before the cache is filled, so that no read visits all objects. */
  indexControllers(): void {
    this.#content.indexControllers();
  }

  /** Calls the listener for each change from now on, in order. Returns the function that unsubscribes. */
  subscribe(listener: CacheListener<T>): () => void {
    const own = { listener, hasLeft: false };
    this.#subscriptions = [...this.#subscriptions, own];
    return () => {
      own.hasLeft = true;
      this.#subscriptions = this.#subscriptions.filter((each) => each !== own);
    };
  }

  /**
   * Resolves when the cache has seen this resourceVersion or a later one. A write to this kind is seen when its event
   * arrives. A version of another kind is seen with the next event or bookmark. Rejects with the signal's reason.
   */
  waitFor(version: string, signal: AbortSignal): Promise<void> {
    const isSeen = this.#seen.has(version) || (!isNumber(version) && this.#holds(version));
    return isSeen ? Promise.resolve() : this.#wait(version, signal);
  }

  /** Resolves once `hasSynced` is true. Rejects with the signal's reason. */
  synced(signal: AbortSignal): Promise<void> {
    return this.hasSynced ? Promise.resolve() : this.#wait(undefined, signal);
  }

  /** Applies an event of the watcher. */
  apply(event: WatcherEvent<T>): void {
    runToEnd(this.applyInSlices(event));
  }

  /** Like `apply`, but others may run between slices. The next event must wait for its end. */
  *applyInSlices(event: WatcherEvent<T>): YieldingWork<void> {
    if (event.type === "reset")
      yield* this.#content.replace(event.objects, (changes) => this.#notify(changes));
    if (event.type === "changes") yield* this.#change(event.changes);
    this.#seen.note(event);
    if (this.#waiters.size > 0) this.#wake(event);
  }

  *#change(changes: readonly WatcherChange<T>[]): YieldingWork<void> {
    for (let from = 0; from < changes.length; from += SLICE_ITEMS) {
      if (from > 0) yield;
      const slice = changes.slice(from, from + SLICE_ITEMS);
      this.#notify(
        slice.flatMap(({ type, object }) =>
          type === "put" ? this.#content.put(object) : this.#content.remove(object),
        ),
      );
    }
  }

  /**
   * Each listener receives all changes before the next one does: that is faster. A listener added meanwhile is
   * skipped: its reads already include them.
   */
  #notify(changes: readonly ObjectChange<T>[]): void {
    for (const subscription of this.#subscriptions) {
      for (const change of changes) if (!subscription.hasLeft) this.#call(subscription, change);
    }
  }

  #call({ listener }: Subscription<T>, change: ObjectChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      const { namespace, name } = (change.after ?? change.before)?.metadata ?? {};
      this.#log.error("a listener of the cache failed", { namespace, name, error });
    }
  }

  /** A reset is later than every version without order that was awaited before it. */
  #wake({ type }: WatcherEvent<T>): void {
    for (const waiter of this.#waiters) {
      const { version } = waiter;
      const isLater = type === "reset" && (version === undefined || !isNumber(version));
      if (isLater || (version !== undefined && this.#seen.has(version))) {
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
    }
  }

  #holds(version: string): boolean {
    return this.list().some(({ metadata }) => metadata.resourceVersion === version);
  }

  #wait(version: string | undefined, signal: AbortSignal): Promise<void> {
    const call = endableSignal([signal]);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        call.release();
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        version,
        resolve: () => {
          call.release();
          resolve();
        },
      };
      this.#waiters.add(waiter);
      if (signal.aborted) leave();
      else call.signal.addEventListener("abort", leave, { once: true });
    });
  }
}
