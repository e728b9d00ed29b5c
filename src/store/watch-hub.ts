/**
 * Delivers the events of each visible batch to live watchers. Watchers are found by key and by the "/"-ended prefixes
 * of the key, so an event costs only its receivers. Watchers of one prefix share the array of events.
 */
import type { Commit } from "./commit.ts";
import type { WatchEvent } from "./store.ts";

export interface Receiver {
  /** Delivers events of whole revisions, newer than all before. The array is shared: do not change it. */
  offer(events: readonly WatchEvent[], bytes: number): void;
  /** Bytes of delivered events that the receiver has not taken yet; they stay in memory. */
  readonly pendingBytes: number;
  /** Ends the receiver with `SlowWatcher`. */
  fallBehind(): void;
}

/**
 * Upper bound of pending bytes of all receivers together. Each receiver has its own bound, but there may be many
 * receivers with different prefixes.
 */
const PENDING_BYTES_MAX = 256 << 20;
/** The sum is computed again after this many bytes of events, so it may exceed its bound by as much. */
const SUM_EVERY_BYTES = 16 << 20;

/** A receiver with more pending batches is behind all others, so no other can share its array. */
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
  /** Bytes published since the last sum. */
  #publishedBytes = 0;
  /** Recently joined arrays, newest first: receivers with the same pending batches ask soon after each other. */
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

  /** Joins the events of batches into one array, shared by all receivers with the same batches. */
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

  /**
   * Ends the slowest receivers until the bound holds. Receivers of one prefix share events, so the slowest one's
   * pending bytes count for all.
   */
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
