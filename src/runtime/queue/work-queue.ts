/**
 * The keys that a loop has to look at. A key is in here once, however often it is added, and in work once: added while in work it comes
 * again afterwards. What has changed goes before what is only looked at for safety's sake (resyncs), but cannot starve it.
 */
import { backoffMs, type Backoff } from "../../base/loop/backoff.ts";
import type { Loop, TimerKind } from "../../base/loop/loop.ts";
import { CauseSet, type Cause, type Causes } from "./cause.ts";
import { DelayedKeys } from "./delayed-keys.ts";
import { TokenBucket, type Rate } from "./token-bucket.ts";

export type Urgency = "fresh" | "resync";

export interface WorkItem {
  readonly key: string;
  readonly causes: Causes;
  readonly waitedMs: number;
}

export interface WorkQueueOptions {
  readonly loop: Loop;
  /** Of one key that keeps failing; 5 ms to 5 minutes unless given. */
  readonly retry?: Backoff;
  /** Of all retries together; 100 a second after a burst of 1,000 unless given. */
  readonly retryRate?: Rate;
  /** Called whenever a key has become ready to be taken. Must not take it at once. */
  readonly onReady?: () => void;
}

const RETRY: Backoff = { baseMs: 5, maxMs: 300_000 };
/** A failing world is asked gently, however many keys fail; a few thousand conflicts are over within seconds all the same. */
const RETRY_RATE: Rate = { perSecond: 100, burst: 1000 };
/** So many fresh keys go before a waiting resync, then one of those is let through. */
const FRESH_IN_A_ROW = 15;
/** Beyond this the wait has long reached its maximum. */
const FAILURES_MAX = 64;

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
  /** Consecutive failures; only keys that failed last time. */
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

  get inWork(): number {
    return this.#inWork;
  }

  /** How often a key was added. */
  get added(): number {
    return this.#added;
  }

  /** How often a key had failed and was added for that. */
  get retried(): number {
    return this.#retried;
  }

  /** Keys that are due later. */
  get delayed(): number {
    return this.#delayed.progress.size + this.#delayed.periodic.size;
  }

  /** How long the next key has been waiting. */
  oldestAgeMs(): number {
    const oldest = Math.min(
      this.#waiting.fresh.head?.queuedAt ?? Infinity,
      this.#waiting.resync.head?.queuedAt ?? Infinity,
    );
    return oldest === Infinity ? 0 : this.#loop.elapsed() - oldest;
  }

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

  /** Of several delays of one key and kind the earliest counts; it does not hold up what is added meanwhile. */
  addAfter(key: string, delayMs: number, kind: TimerKind = "progress"): void {
    this.#delayed[kind].add(key, this.#loop.now() + delayMs, { type: "timer" });
  }

  /** Adds the key again after its back-off, and says how long that is. */
  retry(key: string): number {
    this.#retried++;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, Math.min(failures + 1, FAILURES_MAX));
    const ownMs = backoffMs(failures, this.#retry, this.#loop.random("retry"));
    const delayMs = Math.max(ownMs, this.#retryBucket.reserve(this.#loop.elapsed()));
    this.#delayed.progress.add(key, this.#loop.now() + delayMs, { type: "retry", attempt: failures + 1 });
    return delayMs;
  }

  /** The key is well again: its next failure is its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Undefined when nothing is ready. Whoever takes a key says `done` when it is. Delays of the key end here: the pass that begins knows better
   * when to look again.
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

  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.state === "waiting") return;
    this.#inWork--;
    if (entry.state === "working again") this.#enqueue(entry, entry.urgency);
    else this.#entries.delete(key);
  }

  /** Forgets everything that waits, now or later. Keys in work may still be said to be done. */
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
  /** Since it was last taken. */
  causes = new CauseSet();
  /** Neighbours in the list while it waits. */
  previous: Entry | undefined;
  next: Entry | undefined;

  constructor(key: string) {
    this.key = key;
  }
}

/** First in, first out, with removal from the middle in constant time. */
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
