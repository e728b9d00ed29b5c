/**
 * Hands the events of each visible batch to the watchers that are live. Watchers are found by key and by the "/"-ended
 * prefixes of the key, so that an event costs its receivers only; the events of one prefix are collected once and shared.
 */
import type { Commit } from "./commit.ts";
import type { WatchEvent } from "./store.ts";

export interface Receiver {
  /** Events of whole revisions, newer than any offered before. The array is shared: it must not be changed. */
  offer(events: readonly WatchEvent[], bytes: number): void;
  /** Of events that were offered and not taken yet: they stay in memory. */
  readonly pendingBytes: number;
  /** Ends it with `SlowWatcher`. */
  fallBehind(): void;
}

/** What waits for all receivers together. A receiver has a bound of its own, but there may be many, each for another prefix. */
const PENDING_BYTES_MAX = 256 << 20;
/** The sum is made anew after so many bytes of events: it may be above its bound by as much. */
const SUM_EVERY_BYTES = 16 << 20;

/** Who has more waiting is behind all others. */
const JOINED_MAX = 64;
const JOINED_KEPT = 8;

type Batch = readonly WatchEvent[];

interface Joined {
  readonly batches: readonly Batch[];
  readonly events: Batch;
}

interface Bucket {
  readonly receivers: ReadonlySet<Receiver>;
  readonly events: WatchEvent[];
  bytes: number;
}

export class WatchHub {
  readonly #live = new Map<string, Set<Receiver>>();
  readonly #maxPendingBytes: number;
  readonly #sumEveryBytes: number;
  /** Since the sum was made. */
  #publishedBytes = 0;
  /** What was joined last, the newest first: others who wait for the same ask next, and those who were slower wait for something else. */
  #joined: Joined[] = [];

  constructor(maxPendingBytes = PENDING_BYTES_MAX) {
    this.#maxPendingBytes = maxPendingBytes;
    this.#sumEveryBytes = Math.min(SUM_EVERY_BYTES, maxPendingBytes);
  }

  get size(): number {
    let size = 0;
    for (const receivers of this.#live.values()) size += receivers.size;
    return size;
  }

  add(prefix: string, receiver: Receiver): void {
    const receivers = this.#live.get(prefix);
    if (receivers === undefined) this.#live.set(prefix, new Set([receiver]));
    else receivers.add(receiver);
  }

  remove(prefix: string, receiver: Receiver): void {
    const receivers = this.#live.get(prefix);
    if (receivers?.delete(receiver) === true && receivers.size === 0) this.#live.delete(prefix);
  }

  /** The events of batches that were offered, as one array for all who have the same batches. */
  joined(batches: readonly Batch[]): Batch {
    const [only] = batches;
    if (batches.length === 1 && only !== undefined) return only;
    if (batches.length > JOINED_MAX) return batches.flat();
    const known = this.#joined.find((each) => isSame(each.batches, batches));
    if (known !== undefined) return known.events;
    const events = batches.flat();
    this.#joined = [{ batches, events }, ...this.#joined.slice(0, JOINED_KEPT - 1)];
    return events;
  }

  publish(commits: readonly Commit[]): void {
    if (this.#live.size === 0) return;
    const buckets = new Map<string, Bucket>();
    for (const commit of commits) for (const event of commit.events) this.#sort(event, buckets);
    for (const { receivers, events, bytes } of buckets.values()) {
      for (const receiver of receivers) receiver.offer(events, bytes);
      this.#publishedBytes += bytes;
    }
    if (this.#publishedBytes < this.#sumEveryBytes) return;
    this.#publishedBytes = 0;
    this.#bound();
  }

  /** Receivers of one prefix share their events: what waits for the slowest is what waits for all of them. */
  #bound(): void {
    const slowest = [...this.#live.values()].map((receivers) => {
      let bytes = 0;
      for (const { pendingBytes } of receivers) bytes = Math.max(bytes, pendingBytes);
      return { receivers, bytes };
    });
    let total = slowest.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { receivers, bytes } of slowest.toSorted((a, b) => b.bytes - a.bytes)) {
      if (total <= this.#maxPendingBytes) return;
      for (const receiver of [...receivers]) if (receiver.pendingBytes > bytes / 2) receiver.fallBehind();
      total -= bytes / 2;
    }
  }

  #sort(event: WatchEvent, buckets: Map<string, Bucket>): void {
    const { key } = event;
    this.#put("", event, buckets);
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
      this.#put(key.slice(0, slash + 1), event, buckets);
    }
    if (!key.endsWith("/")) this.#put(key, event, buckets);
  }

  #put(prefix: string, event: WatchEvent, buckets: Map<string, Bucket>): void {
    let bucket = buckets.get(prefix);
    if (bucket === undefined) {
      const receivers = this.#live.get(prefix);
      if (receivers === undefined) return;
      bucket = { receivers, events: [], bytes: 0 };
      buckets.set(prefix, bucket);
    }
    bucket.events.push(event);
    bucket.bytes += event.after?.value.byteLength ?? event.before?.value.byteLength ?? 0;
  }
}

function isSame(left: readonly Batch[], right: readonly Batch[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}
