/**
 * One watch. It catches up by pulling slices of history as its reader asks. At the head it joins the hub in the same
 * step, so no event is missed or repeated; from then on the hub delivers batches. The reader waits in `next`, or
 * registers a listener and calls `take`. The watch ends when its pending events exceed a bound.
 */
import type { Lane, Loop } from "../base/loop/loop.ts";
import { isUnder } from "./key-group.ts";
import { StoreError } from "./store-error.ts";
import type { Watch, WatchBatch, WatchEvent, WatchOptions } from "./store.ts";
import type { Receiver } from "./watch-hub.ts";

/** Part of the store that a watcher uses. */
export interface WatchSource {
  readonly loop: Loop;
  /** Newest visible revision. */
  readonly revision: number;
  /** Returns the next events under a prefix: at once from memory, later from the archive. Throws `Compacted`. */
  pull(after: number, prefix: string): EventSlice | Promise<EventSlice>;
  join(prefix: string, receiver: Receiver): void;
  /** One array for all watchers with the same batches. */
  joined(batches: readonly (readonly WatchEvent[])[]): readonly WatchEvent[];
  leave(prefix: string, receiver: Receiver): void;
}

export interface EventSlice {
  readonly events: readonly WatchEvent[];
  readonly through: number;
}

/**
 * Upper bounds of pending events, as kube-apiserver bounds each watcher. A reader this far behind is better off listing
 * again.
 */
const MAX_PENDING_EVENTS = 10_000;
const MAX_PENDING_BYTES = 32 << 20;

type Phase =
  | { readonly state: "catching up"; readonly position: number }
  | { readonly state: "live" }
  | { readonly state: "ended"; readonly error: Error | undefined };

interface Reader {
  readonly resolve: (result: IteratorResult<WatchBatch, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

export class StoreWatch implements Watch, Receiver {
  readonly #source: WatchSource;
  readonly #prefix: string;
  readonly #lane: Lane;
  /** Events up to this revision are skipped: the watch may begin in the future. */
  readonly #after: number;
  #phase: Phase;
  /** Pending batches, whole and in order. */
  #pending: (readonly WatchEvent[])[] = [];
  #pendingEvents = 0;
  #pendingBytes = 0;
  /** Revision up to which all events were delivered; `revision` is higher while no event is pending. */
  #handedOut: number;
  /** Reader that waits in `next`. */
  #reader: Reader | undefined;
  /** Listener of a reader that uses `take`. */
  #tell: () => void = ignore;
  #isPosted = false;
  /** Slice from the archive, or "coming" while it is read. */
  #slice: EventSlice | "coming" | undefined;

  constructor(source: WatchSource, { prefix, after, lane }: WatchOptions) {
    this.#source = source;
    this.#prefix = prefix;
    this.#lane = lane ?? "request";
    this.#after = after;
    this.#handedOut = Math.min(after, source.revision);
    if (after < source.revision) {
      this.#phase = { state: "catching up", position: after };
    } else {
      this.#phase = { state: "live" };
      source.join(prefix, this);
    }
  }

  get revision(): number {
    if (this.#phase.state === "live" && this.#pending.length === 0) return this.#source.revision;
    return this.#handedOut;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<WatchBatch, undefined>> {
    if (this.#reader !== undefined) throw new Error("a watch allows one pending call of next at a time");
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      if (this.#phase.state !== "live" || this.#pending.length > 0) this.#post();
    });
  }

  take(): WatchBatch | "end" | undefined {
    const phase = this.#phase;
    switch (phase.state) {
      case "ended":
        if (phase.error !== undefined) throw phase.error;
        return "end";
      case "live":
        return this.#pending.length > 0 ? this.#takePending() : undefined;
      case "catching up":
        return this.#catchUp(phase.position);
    }
  }

  whenReady(listener: () => void): void {
    this.#tell = listener;
  }

  async return(): Promise<IteratorResult<WatchBatch, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  close(): void {
    this.end(undefined);
  }

  /** Drops pending events, so that the reader sees the end at once and not after a backlog. */
  end(error: Error | undefined): void {
    if (this.#phase.state === "ended") return;
    this.#handedOut = this.revision;
    this.#source.leave(this.#prefix, this);
    this.#phase = { state: "ended", error };
    this.#drop();
    this.#announce();
  }

  offer(shared: readonly WatchEvent[], bytes: number): void {
    if (this.#phase.state !== "live") return;
    const events = this.#isWanted(shared) ? shared : shared.filter((event) => event.revision > this.#after);
    if (events.length === 0) return;
    if (this.#pending.length === 0)
      this.#handedOut = Math.max(this.#handedOut, (events[0]?.revision ?? 0) - 1);
    this.#pending.push(events);
    this.#pendingEvents += events.length;
    this.#pendingBytes += bytes;
    if (this.#pendingEvents > MAX_PENDING_EVENTS || this.#pendingBytes > MAX_PENDING_BYTES)
      return this.fallBehind();
    return this.#announce();
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  fallBehind(): void {
    this.end(new StoreError("SlowWatcher", `watch of "${this.#prefix}" fell too far behind`));
  }

  #announce(): void {
    if (this.#reader === undefined) this.#tell();
    else this.#post();
  }

  #isWanted(events: readonly WatchEvent[]): boolean {
    return (events[0]?.revision ?? 0) > this.#after;
  }

  /** Posts one step at a time in which the reader gets its batch or is notified. */
  #post(): void {
    if (this.#isPosted) return;
    this.#isPosted = true;
    this.#source.loop.post(this.#lane, () => {
      this.#isPosted = false;
      if (this.#reader === undefined) this.#tell();
      else this.#answer(this.#reader);
    });
  }

  #answer({ resolve, reject }: Reader): void {
    try {
      const taken = this.take();
      if (taken === undefined) return;
      this.#reader = undefined;
      resolve(taken === "end" ? { done: true, value: undefined } : { done: false, value: taken });
    } catch (error) {
      this.#reader = undefined;
      reject(error);
    }
  }

  #catchUp(position: number): WatchBatch | undefined {
    if (this.#slice === "coming") return undefined;
    const slice = this.#slice ?? this.#pull(position);
    this.#slice = undefined;
    if (!(slice instanceof Promise)) return this.#accept(slice);
    this.#slice = "coming";
    slice.then(
      (found) => {
        this.#slice = found;
        this.#post();
      },
      (error: Error) => this.end(error),
    );
    return undefined;
  }

  #pull(position: number): EventSlice | Promise<EventSlice> {
    try {
      return this.#source.pull(position, this.#prefix);
    } catch (error) {
      this.end(error as Error);
      throw error;
    }
  }

  /** When no event of a slice is wanted, a later step reads the next slice. */
  #accept({ events, through }: EventSlice): WatchBatch | undefined {
    if (through >= this.#source.revision) {
      this.#phase = { state: "live" };
      this.#source.join(this.#prefix, this);
    } else {
      this.#phase = { state: "catching up", position: through };
    }
    this.#handedOut = through;
    if (events.length > 0) return { events, revision: through };
    if (this.#phase.state === "catching up") this.#post();
    return undefined;
  }

  #takePending(): WatchBatch {
    const events = this.#source.joined(this.#pending);
    this.#drop();
    this.#handedOut = this.#source.revision;
    return { events, revision: this.#handedOut };
  }

  #drop(): void {
    this.#pending = [];
    this.#pendingEvents = 0;
    this.#pendingBytes = 0;
  }
}

/** Default listener. */
function ignore(): void {
  // The reader waits in `next` or polls with `take`.
}

/** Returns only the events under a prefix. */
export function eventsUnder(events: readonly WatchEvent[], prefix: string): WatchEvent[] {
  return events.filter((event) => isUnder(event.key, prefix));
}
