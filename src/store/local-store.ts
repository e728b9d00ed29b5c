/**
 * The store of one process: memory and file engine, which differ only in their backend.
 * It has two heads. *Accepted* includes all transactions judged so far, in call order, without an await. *Visible* is
 * the newest durable state, which the mirror shows.
 * A batch becomes visible in this order: durable, state and history, watchers, writers. So a writer that got its answer
 * reads its own write everywhere.
 */
import type { Loop, Timer } from "../base/loop/loop.ts";
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";
import { createDeferred } from "./deferred.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Mirror } from "./mirror.ts";
import type { RetentionWindow } from "./retention-window.ts";
import { growthOf, SpaceQuota } from "./space.ts";
import { StateEditor } from "./state.ts";
import type { Advance } from "./state.ts";
import { isStoreError, StoreError } from "./store-error.ts";
import { MAX_CHANGES } from "./store.ts";
import type {
  Committed,
  Entry,
  Lookup,
  PastChange,
  Store,
  StoreHealth,
  StoreSpace,
  Transaction,
  View,
  Watch,
  WatchEvent,
  WatchOptions,
} from "./store.ts";
import { advance } from "./transaction.ts";

/** Interval of retries of an expiry for which the backend had no space. */
const EXPIRY_RETRY_MS = 5000;
/** Interval of cuts of the history on disk while there are no writes. */
const COMPACT_EVERY_MS = 30_000;
/** Approximate size of a change besides its value: row, key and bookkeeping. */
const CHANGE_BYTES = 200;

export interface LocalStoreOptions {
  readonly loop: Loop;
  readonly backend: Backend;
  readonly mirror: Mirror;
  /** Decides when history in the backend may be cut; without it only `compact` cuts. */
  readonly diskWindow?: RetentionWindow;
  /** Bytes above which writes that add data fail with `NoSpace`; see space.ts. */
  readonly quotaBytes?: number | undefined;
}

type Phase =
  | { readonly state: "open" }
  | { readonly state: "full"; readonly error: StoreError }
  | { readonly state: "broken"; readonly error: StoreError }
  | { readonly state: "closed" };

export class LocalStore implements Store {
  readonly ended: Promise<void>;
  readonly isShared = false;
  readonly acceptedNow: Lookup = {
    get: (key) => this.#accepted.get(key),
    mark: (prefix) => this.#accepted.mark(prefix),
  };
  readonly #end: { readonly resolve: () => void; readonly reject: (error: Error) => void };
  readonly #loop: Loop;
  readonly #backend: Backend;
  readonly #mirror: Mirror;
  readonly #window: RetentionWindow | undefined;
  readonly #quota: SpaceQuota;
  readonly #commits: GroupCommit;
  #accepted: StateEditor;
  #phase: Phase = { state: "open" };
  #compacting: Promise<void> | undefined;
  /** Revision up to which a cut is due but found no space. */
  #uncut: number | undefined;
  #expiryTimer: { readonly at: number; readonly timer: Timer } | undefined;
  #compactTimer: Timer | undefined;

  constructor({ loop, backend, mirror, diskWindow, quotaBytes }: LocalStoreOptions) {
    this.#quota = new SpaceQuota(quotaBytes);
    this.#loop = loop;
    this.#backend = backend;
    this.#mirror = mirror;
    this.#window = diskWindow;
    this.#accepted = new StateEditor(mirror.state);
    this.#commits = new GroupCommit(loop, backend, {
      accepted: () => this.#accepted.state(),
      durable: (batch) => this.#publish(batch),
      refused: (error) => this.#refuse(error),
      broken: (error) => this.#break(error),
    });
    const { promise, ...end } = createDeferred();
    this.ended = promise;
    this.#end = end;
  }

  /** Starts the expiry of keys and the cuts of history. The opener of the store calls it once. */
  begin(): this {
    this.#armExpiry();
    this.#armCompaction();
    return this;
  }

  get view(): View {
    return this.#mirror.state;
  }

  get accepted(): View {
    return this.#accepted.state();
  }

  settling(): Promise<boolean> | undefined {
    if (this.#accepted.revision === this.view.revision) return undefined;
    return this.#commits.newest.then(
      () => true,
      () => false,
    );
  }

  /** Always undefined: transactions are judged in order here, so no writer has to wait. */
  turn(): undefined {
    return undefined;
  }

  fresh(): View {
    this.#checkOpen();
    return this.view;
  }

  async at(revision: number, prefix: string): Promise<View> {
    this.#checkOpen();
    return this.#mirror.at(revision, prefix);
  }

  async change(revision: number, key: string): Promise<PastChange | undefined> {
    this.#checkOpen();
    return this.#mirror.change(revision, key);
  }

  /** Runs for every write, so it creates only one promise. */
  write(transaction: Transaction): Promise<Committed> {
    try {
      const commit = this.#take(transaction);
      if (commit === undefined) return this.#unchanged(transaction);
      const answer = { revision: commit.revision, entries: entriesOf(transaction, commit) };
      return this.#commits.push(commit, bytesOf(commit), answer);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  watch(options: WatchOptions): Watch {
    this.#checkOpen();
    return this.#mirror.watch(options);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.view.revision) {
      throw new StoreError(
        "FutureRevision",
        `revision ${String(revision)} is not there yet, the newest is ${String(this.view.revision)}`,
      );
    }
    this.#mirror.compact(revision);
    await this.#compacting;
    await this.#backend.compact(revision);
  }

  health(): StoreHealth {
    const phase = this.#phase;
    if (phase.state === "open") return { state: "ready" };
    return {
      state: "degraded",
      reason: phase.state === "closed" ? "the store is closed" : phase.error.message,
    };
  }

  get space(): StoreSpace {
    const space = this.#quota.look(this.#usedBytes);
    if (!space.isFull) return space;
    this.#mirror.expire();
    return this.#quota.look(this.#usedBytes);
  }

  async close(): Promise<void> {
    if (this.#phase.state === "closed") return this.ended;
    const wasBroken = this.#phase.state === "broken";
    this.#phase = { state: "closed" };
    this.#expiryTimer?.timer.cancel();
    this.#compactTimer?.cancel();
    await this.#commits.drained();
    await this.#compacting;
    this.#mirror.end(new StoreError("Closed", "the store was closed"));
    await this.#backend.close();
    if (!wasBroken) this.#end.resolve();
  }

  #take(transaction: Transaction): Commit | undefined {
    this.#checkOpen();
    if (this.#commits.isFull)
      throw new StoreError("Overloaded", "too many writes wait for the disk: try again later");
    const admit = (events: readonly WatchEvent[]): void => this.#admit(events, transaction);
    return advance(this.#accepted, transaction, { now: this.#loop.now(), admit });
  }

  /** Includes accepted commits that are not durable yet. */
  get #usedBytes(): number {
    return this.#accepted.liveBytes + this.#mirror.historyBytes;
  }

  /** Expires old history to make space before a write is refused. */
  #admit(events: readonly WatchEvent[], transaction: Transaction): void {
    const growth = growthOf(events);
    if (this.#quota.hasRoom(this.#usedBytes, growth, transaction)) return;
    this.#mirror.expire();
    if (!this.#quota.hasRoom(this.#usedBytes, growth, transaction)) throw this.#quota.refusal();
  }

  /** Answers a no-op once all earlier accepted writes are visible, since it depends on them. */
  async #unchanged({ changes }: Transaction): Promise<Committed> {
    const { revision } = this.#accepted;
    if (revision > this.view.revision) await this.#commits.newest;
    return { revision, entries: changes.map(() => undefined) };
  }

  #publish(batch: Advance): void {
    this.#mirror.publish(batch);
    if (this.#phase.state === "full") this.#phase = { state: "open" };
    this.#note(batch);
    this.#armExpiry();
    this.#cutHistory();
  }

  #note({ commits }: Advance): void {
    const last = commits.at(-1);
    if (this.#window === undefined || last === undefined) return;
    let bytes = 0;
    for (const commit of commits) bytes += bytesOf(commit);
    this.#window.note(last.revision, last.time, bytes);
  }

  #refuse(error: StoreError): void {
    this.#accepted = new StateEditor(this.#mirror.state);
    this.#noteFull(error);
  }

  #noteFull(error: StoreError): void {
    if (this.#phase.state === "open") this.#phase = { state: "full", error };
  }

  #break(error: StoreError): void {
    this.#accepted = new StateEditor(this.#mirror.state);
    if (this.#phase.state !== "closed") this.#phase = { state: "broken", error };
    this.#mirror.end(error);
    this.#end.reject(error);
  }

  #checkOpen(): void {
    if (this.#phase.state === "closed") throw new StoreError("Closed", "the store was closed");
    if (this.#phase.state === "broken") throw this.#phase.error;
  }

  #armExpiry(retryAt = 0): void {
    const next = this.#accepted.expiry.next;
    if (next === undefined || this.#phase.state === "closed") return;
    const at = Math.max(next, retryAt);
    if (this.#expiryTimer !== undefined && this.#expiryTimer.at <= at) return;
    this.#expiryTimer?.timer.cancel();
    this.#expiryTimer = { at, timer: this.#loop.timer(at, "periodic", () => this.#expire()) };
  }

  async #expire(): Promise<void> {
    this.#expiryTimer = undefined;
    const now = this.#loop.now();
    const keys = this.#accepted.expiry.ended(now, MAX_CHANGES);
    try {
      if (keys.length > 0) await this.write({ changes: keys.map((key) => ({ type: "delete", key })) });
      this.#armExpiry();
    } catch (error) {
      if (!isStoreError(error)) throw error;
      this.#armExpiry(now + EXPIRY_RETRY_MS);
    }
  }

  #armCompaction(): void {
    if (this.#window === undefined) return;
    this.#compactTimer = this.#loop.timer(this.#loop.now() + COMPACT_EVERY_MS, "periodic", () => {
      this.#cutHistory(this.#uncut);
      this.#armCompaction();
    });
  }

  /** Runs even when the store is full, since expiry may free space. */
  #cutHistory(uncut?: number): void {
    const isOpen = this.#phase.state === "open" || this.#phase.state === "full";
    if (this.#compacting !== undefined || !isOpen) return;
    const revision = this.#window?.takeExpired(this.#loop.now()) ?? uncut;
    if (revision === undefined) return;
    this.#uncut = undefined;
    this.#compacting = this.#backend.compact(revision).then(
      () => {
        this.#compacting = undefined;
      },
      (error: unknown) => {
        this.#compacting = undefined;
        // Commits accepted meanwhile are not lost by the failure, and may still fit.
        if (isStoreError(error, "NoSpace")) {
          this.#uncut = revision;
          this.#noteFull(error);
        } else
          this.#break(
            new StoreError("OutcomeUnknown", `cutting history failed: ${String(error)}`, { cause: error }),
          );
      },
    );
  }
}

/** Returns an event per change, in order, except for deletions of missing keys. */
function entriesOf({ changes }: Transaction, { events }: Commit): (Entry | undefined)[] {
  const [first] = events;
  if (first !== undefined && changes.length === 1) return [first.after];
  if (events.length === changes.length) return events.map((event) => event.after);
  const written = new Map(events.map((event) => [event.key, event.after]));
  return changes.map((change) => written.get(change.key));
}

function bytesOf({ events }: Commit): number {
  let bytes = 0;
  for (const event of events) bytes += CHANGE_BYTES + (event.after?.value.byteLength ?? 0);
  return bytes;
}
