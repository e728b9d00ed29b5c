import type { Cause, Causes } from "../../api/causes/cause.ts";
/**
 * The keys that a control loop must process. A key is queued once, however often it is added, and in work once: added
 * while in work, it is queued again afterwards. Changed keys go before resyncs but cannot starve them.
 */
import { backoffMs, type Backoff } from "../../base/loop/backoff.ts";
import type { Loop, TimerKind } from "../../base/loop/loop.ts";
import { CauseSet } from "./cause-set.ts";
import { DelayedKeys } from "./delayed-keys.ts";
import { TokenBucket, type Rate } from "./token-bucket.ts";

/** `fresh`: the object changed. `resync`: a routine check without a change. */
export type Urgency = "fresh" | "resync";

/** A key taken from the queue. */
export interface WorkItem {
  /** `namespace/name`, or `/name` of a cluster-scoped object. */
  readonly key: string;
  /** Why the key was queued. */
  readonly causes: Causes;
  /** Time in the queue, in milliseconds. */
  readonly waitedMs: number;
}

/** Settings of a `WorkQueue`. */
export interface WorkQueueOptions {
  readonly loop: Loop;
  /** Back-off of one failing key, in milliseconds. Default: 5 ms to 5 minutes. */
  readonly retry?: Backoff;
  /** Rate of all retries together. Default: 100 a second after a burst of 1,000. */
  readonly retryRate?: Rate;
  /** Called when a key has become ready. Must not call `take` itself. */
  readonly onReady?: () => void;
}

const RETRY: Backoff = { baseMs: 5, maxMs: 300_000 };
/** Spares a failing server, however many keys fail. A few thousand conflicts are still retried within seconds. */
const RETRY_RATE: Rate = { perSecond: 100, burst: 1000 };
/** Number of fresh keys that may go before a waiting resync. */
const FRESH_IN_A_ROW = 15;
/** Above this the back-off has long reached its maximum. */
const FAILURES_MAX = 64;

/** Queue of keys with deduplication, delays, retries with back-off, and two urgencies. */
export class WorkQueue {
  readonly #loop: Loop;
  readonly #retry: Backoff;
  readonly #retryBucket: TokenBucket;
  readonly #onReady: () => void;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting: Readonly<Record<Urgency, EntryList>> = {
    fresh: new EntryList(),
    resync: new EntryList(),
  };
  readonly #delayed: Readonly<Record<TimerKind, DelayedKeys>>;
  /** Consecutive failures of keys whose last pass failed. */
  readonly #failures = new Map<string, number>();
  #freshInARow = 0;
  #inWork = 0;
  #added = 0;
  #retried = 0;

  constructor({ loop, retry = RETRY, retryRate = RETRY_RATE, onReady = () => {} }: WorkQueueOptions) {
    this.#loop = loop;
    this.#retry = retry;
    this.#retryBucket = new TokenBucket(retryRate, loop.elapsed());
    this.#onReady = onReady;
    const delayed = (kind: TimerKind): DelayedKeys =>
      new DelayedKeys({ loop, kind, onDue: (key, cause) => this.add(key, cause) });
    this.#delayed = { progress: delayed("progress"), periodic: delayed("periodic") };
  }

  /** Keys that can be taken now. */
  get depth(): number {
    return this.#waiting.fresh.length + this.#waiting.resync.length;
  }

  /** Keys that were taken and are not done. */
  get inWork(): number {
    return this.#inWork;
  }

  /** Number of `add` calls, including those for queued keys. */
  get added(): number {
    return this.#added;
  }

  /** Number of retries. */
  get retried(): number {
    return this.#retried;
  }

  /** Keys that become ready later. */
  get delayed(): number {
    return this.#delayed.progress.size + this.#delayed.periodic.size;
  }

  /** Milliseconds for which the oldest ready key has waited; 0 when none is ready. */
  oldestAgeMs(): number {
    const oldest = Math.min(
      this.#waiting.fresh.head?.queuedAt ?? Infinity,
      this.#waiting.resync.head?.queuedAt ?? Infinity,
    );
    return oldest === Infinity ? 0 : this.#loop.elapsed() - oldest;
  }

  /** Queues a key, or adds the cause to a queued one. */
  add(key: string, cause: Cause, urgency: Urgency = "fresh"): void {
    this.#added++;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#addAgain(known, cause, urgency);
      return;
    }
    const entry = new Entry(key);
    this.#entries.set(key, entry);
    entry.causes.add(cause);
    this.#enqueue(entry, urgency);
  }

  /**
   * Queues the key after a delay. Of several delays of one key and kind the earliest counts. The key may be added
   * earlier by `add`.
   */
  addAfter(key: string, delayMs: number, kind: TimerKind = "progress"): void {
    this.#delayed[kind].add(key, this.#loop.now() + delayMs, { type: "timer" });
  }

  /** Queues the key after its back-off. Returns the back-off in milliseconds. */
  retry(key: string): number {
    this.#retried++;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, Math.min(failures + 1, FAILURES_MAX));
    const ownMs = backoffMs(failures, this.#retry, this.#loop.random("retry"));
    const delayMs = Math.max(ownMs, this.#retryBucket.reserve(this.#loop.elapsed()));
    this.#delayed.progress.add(key, this.#loop.now() + delayMs, { type: "retry", attempt: failures + 1 });
    return delayMs;
  }

  /** Resets the back-off of a key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Takes the next key; undefined when none is ready. The caller must call `done` afterwards. Pending delays of the
   * key are cancelled: the new pass decides when to run again.
   */
  take(): WorkItem | undefined {
    const entry = this.#chosenList().shift();
    if (entry === undefined) return undefined;
    const { key, causes } = entry;
    entry.state = "working";
    entry.causes = new CauseSet();
    this.#inWork++;
    this.#delayed.progress.delete(key);
    this.#delayed.periodic.delete(key);
    return { key, causes, waitedMs: this.#loop.elapsed() - entry.queuedAt };
  }

  /** Ends the work on a key; queues it again if it was added meanwhile. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.state === "waiting") return;
    this.#inWork--;
    if (entry.state === "working again") this.#enqueue(entry, entry.urgency);
    else this.#entries.delete(key);
  }

  /** Drops all queued and delayed keys. `done` may still be called for keys in work. */
  clear(): void {
    this.#delayed.progress.clear();
    this.#delayed.periodic.clear();
    for (const list of [this.#waiting.fresh, this.#waiting.resync]) {
      for (let entry = list.shift(); entry !== undefined; entry = list.shift())
        this.#entries.delete(entry.key);
    }
    this.#failures.clear();
  }

  #addAgain(entry: Entry, cause: Cause, urgency: Urgency): void {
    entry.causes.add(cause);
    if (entry.state === "working") {
      entry.state = "working again";
      entry.urgency = urgency;
      return;
    }
    if (urgency === entry.urgency || urgency === "resync") return;
    entry.urgency = urgency;
    if (entry.state !== "waiting") return;
    this.#waiting.resync.remove(entry);
    this.#waiting.fresh.push(entry);
  }

  #enqueue(entry: Entry, urgency: Urgency): void {
    entry.state = "waiting";
    entry.urgency = urgency;
    entry.queuedAt = this.#loop.elapsed();
    this.#waiting[urgency].push(entry);
    this.#onReady();
  }

  #chosenList(): EntryList {
    const { fresh, resync } = this.#waiting;
    if (resync.length === 0) return fresh;
    if (fresh.length > 0 && this.#freshInARow < FRESH_IN_A_ROW) {
      this.#freshInARow++;
      return fresh;
    }
    this.#freshInARow = 0;
    return resync;
  }
}

class Entry {
  readonly key: string;
  state: "waiting" | "working" | "working again" = "waiting";
  urgency: Urgency = "fresh";
  queuedAt = 0;
  /** Causes since the key was last taken. */
  causes = new CauseSet();
  /** Neighbours in the list while it waits. */
  previous: Entry | undefined;
  next: Entry | undefined;

  constructor(key: string) {
    this.key = key;
  }
}

/** First in, first out; removes from the middle in constant time. */
class EntryList {
  head: Entry | undefined;
  length = 0;
  #tail: Entry | undefined;

  push(entry: Entry): void {
    entry.previous = this.#tail;
    entry.next = undefined;
    if (this.#tail === undefined) this.head = entry;
    else this.#tail.next = entry;
    this.#tail = entry;
    this.length++;
  }

  shift(): Entry | undefined {
    const entry = this.head;
    if (entry !== undefined) this.remove(entry);
    return entry;
  }

  remove(entry: Entry): void {
    const { previous, next } = entry;
    if (previous === undefined) this.head = next;
    else previous.next = next;
    if (next === undefined) this.#tail = previous;
    else next.previous = previous;
    entry.previous = undefined;
    entry.next = undefined;
    this.length--;
  }
}
