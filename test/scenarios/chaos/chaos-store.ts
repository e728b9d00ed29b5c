/**
 * The store of one of several servers, like the etcd engine: its own memory follows a shared store with a delay, and only the shared store
 * decides writes. The connection between them may be down.
 */
import type { Loop, Random } from "../../../src/base/loop/loop.ts";
import { createDeferred } from "../../../src/store/deferred.ts";
import { ConditionVariable } from "../../../src/store/etcd/condition-variable.ts";
import { OwnWrites, type OwnWrite } from "../../../src/store/etcd/own-writes.ts";
import type { MemoryStore } from "../../../src/store/memory-store.ts";
import { Mirror } from "../../../src/store/mirror.ts";
import { State } from "../../../src/store/state.ts";
import { isStoreError, StoreError } from "../../../src/store/store-error.ts";
import type {
  PastChange,
  Committed,
  Entry,
  Lookup,
  Store,
  StoreHealth,
  StoreSpace,
  Transaction,
  View,
  Watch,
  WatchEvent,
  WatchOptions,
} from "../../../src/store/store.ts";
import { prefixEnd } from "../../../src/store/store.ts";
import type { LinkFaults } from "./chaos-transport.ts";

/** Timeout of a request in the etcd engine. */
const REQUEST_MS = 5000;
const MAX_LAG_MS = 2000;

export class FollowerStore implements Store {
  readonly isShared = true;
  readonly ended: Promise<void>;
  readonly #end = createDeferred();
  readonly #shared: MemoryStore;
  readonly #loop: Loop;
  readonly #random: Random;
  readonly #weather: LinkFaults;
  readonly #mirror: Mirror;
  readonly #condition: ConditionVariable;
  readonly #writes = new OwnWrites();
  readonly #feed: Watch;
  readonly #followed: Promise<void>;
  #isClosed = false;

  constructor(shared: MemoryStore, loop: Loop, weather: LinkFaults) {
    this.ended = this.#end.promise;
    this.#shared = shared;
    this.#loop = loop;
    this.#random = loop.random("store");
    this.#weather = weather;
    const { view } = shared;
    const entries = [...view.range("", prefixEnd(""))].map(ownEntry);
    this.#mirror = new Mirror({ loop }, State.of(view.revision, entries));
    this.#condition = new ConditionVariable(loop);
    this.#feed = shared.watch({ prefix: "", after: view.revision });
    this.#followed = this.#follow();
  }

  get view(): View {
    return this.#mirror.state;
  }

  get accepted(): View {
    return this.#mirror.state;
  }

  get acceptedNow(): Lookup {
    return this.#mirror.state;
  }

  settling(): undefined {
    return undefined;
  }

  turn(key: string): Promise<void> | undefined {
    return this.#writes.turn(key);
  }

  async fresh(): Promise<View> {
    this.#checkOpen();
    await this.#travel();
    const { revision } = this.#shared.view;
    if (await this.#reaches(revision)) return this.#mirror.state;
    throw new StoreError("Unavailable", "the newest state is not known here");
  }

  async at(revision: number, prefix: string): Promise<View> {
    this.#checkOpen();
    return await this.#mirror.at(revision, prefix);
  }

  async change(revision: number, key: string): Promise<PastChange | undefined> {
    this.#checkOpen();
    return await this.#mirror.change(revision, key);
  }

  async write(transaction: Transaction): Promise<Committed> {
    this.#checkOpen();
    return await this.#writes.run(transaction, (write) => this.#send(transaction, write));
  }

  watch(options: WatchOptions): Watch {
    this.#checkOpen();
    return this.#mirror.watch(options);
  }

  /** Compacts its own memory; the shared store compacts itself. */
  compact(revision: number): Promise<void> {
    this.#mirror.compact(revision);
    return Promise.resolve();
  }

  get space(): StoreSpace {
    return this.#shared.space;
  }

  health(): StoreHealth {
    return { state: "ready" };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.close();
    this.#condition.close();
    this.#mirror.end(new StoreError("Closed", "the store was closed"));
    await this.#followed;
    this.#end.resolve();
  }

  async #send(transaction: Transaction, write: OwnWrite): Promise<Committed> {
    await this.#travel();
    if (this.#isStruck()) throw new StoreError("Unavailable", "the shared store is away");
    const slotless = transaction.changes.map((change) =>
      change.type === "put" ? { ...change, slot: undefined } : change,
    );
    let revision: number;
    try {
      ({ revision } = await this.#shared.write({ ...transaction, changes: slotless }));
    } catch (error) {
      // A refused writer reads memory to learn the reason.
      if (isStoreError(error, "ConditionFailed")) await this.#reaches(this.#shared.view.revision);
      throw error;
    }
    await this.#travel();
    if (this.#isStruck() || !(await this.#reaches(revision)))
      throw new StoreError("OutcomeUnknown", "no answer of the shared store");
    const entries = transaction.changes.map(({ key }) =>
      write.seen.find((entry) => entry.key === key && entry.modRevision === revision),
    );
    return { revision, entries };
  }

  async #follow(): Promise<void> {
    try {
      for await (const { events } of this.#feed) {
        await this.#travel();
        if (this.#isClosed) return;
        for (const same of byRevision(events)) this.#apply(same);
        this.#condition.check();
      }
    } catch (error) {
      if (!isStoreError(error, "Closed")) throw error;
    }
  }

  #apply(events: readonly WatchEvent[]): void {
    const { state } = this.#mirror;
    const revision = events[0]?.revision ?? 0;
    const own = events.map((event) => ({
      ...event,
      before: state.get(event.key),
      after: event.after === undefined ? undefined : ownEntry(event.after),
    }));
    for (const { after } of own) if (after !== undefined) this.#writes.noteEntry(after);
    const next = state.with(revision, own);
    const commit = { revision, time: this.#loop.now(), events: own, ...next.live };
    this.#mirror.publish({ commits: [commit], state: next });
  }

  #reaches(revision: number): Promise<boolean> {
    return this.#condition.wait(() => this.#mirror.revision >= revision, this.#loop.now() + REQUEST_MS);
  }

  /** Mostly at once. */
  #travel(): Promise<void> {
    const ms = this.#isStruck() ? this.#random.below(MAX_LAG_MS) : 0;
    return new Promise((resolve) => {
      if (ms === 0) this.#loop.post("request", resolve);
      else this.#loop.timer(this.#loop.now() + ms, "progress", resolve);
    });
  }

  #isStruck(): boolean {
    const { storeOdds } = this.#weather;
    return storeOdds > 0 && this.#random.below(storeOdds) === 0;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StoreError("Closed", "the store was closed");
  }
}

/** An entry without the parts that one server adds for itself. */
function ownEntry(entry: Entry): Entry {
  return { ...entry, expiresAt: undefined, slot: undefined };
}

function byRevision(events: readonly WatchEvent[]): readonly (readonly WatchEvent[])[] {
  const groups = new Map<number, WatchEvent[]>();
  for (const event of events) {
    const same = groups.get(event.revision) ?? [];
    same.push(event);
    groups.set(event.revision, same);
  }
  return [...groups.values()];
}
