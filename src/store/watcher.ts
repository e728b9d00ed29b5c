/**
 * One watch. It catches up by pulling slices of history when its reader asks, joins the hub once it has reached the head
 * (in the same step, so nothing is missed or seen twice), and from then on is offered each batch. A reader that does not
 * read is cut off when what waits for it passes a bound.
 */
import type { Lane, Loop } from "../base/loop.ts";
import { isUnder } from "./key-group.ts";
import { StoreError } from "./store-error.ts";
import type { Watch, WatchBatch, WatchEvent, WatchOptions } from "./store.ts";
import type { Receiver } from "./watch-hub.ts";

/** What a watcher sees of the store. */
export interface WatchSource {
  readonly loop: Loop;
  /** The visible revision. */
  readonly revision: number;
  /** The next events under a prefix: at once from memory, later from the archive. Throws `Compacted`. */
  pull(after: number, prefix: string): Slice | Promise<Slice>;
  join(prefix: string, receiver: Receiver): void;
  leave(prefix: string, receiver: Receiver): void;
}

export interface Slice {
  readonly events: readonly WatchEvent[];
  readonly through: number;
}

/** A reader this far behind would rather list again; as kube-apiserver, memory for each watcher has a bound. */
const MAX_PENDING_EVENTS = 10_000;
const MAX_PENDING_BYTES = 32 << 20;

type Phase =
  | { readonly state: "catching up"; readonly position: number }
  | { readonly state: "live" }
  | { readonly state: "ended"; readonly error: StoreError | undefined };

interface Reader {
  readonly resolve: (result: IteratorResult<WatchBatch, undefined>) => void;
  readonly reject: (error: Error) => void;
}

export class Watcher implements Watch, Receiver {
  readonly #source: WatchSource;
  readonly #prefix: string;
  readonly #lane: Lane;
  /** Events up to here are not wanted: the watch may begin in the future. */
  readonly #after: number;
  #phase: Phase;
  /** Waiting to be read; whole batches, in order. */
  #pending: (readonly WatchEvent[])[] = [];
  #pendingEvents = 0;
  #pendingBytes = 0;
  /** Everything up to here was handed out; more while nothing waits, see `revision`. */
  #handedOut: number;
  #reader: Reader | undefined;
  #isPosted = false;

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
    if (this.#reader !== undefined)
      throw new Error("a watch has one reader, who asks for one batch at a time");
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      if (this.#phase.state !== "live" || this.#pending.length > 0) this.#post();
    });
  }

  async return(): Promise<IteratorResult<WatchBatch, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  close(): void {
    this.end(undefined);
  }

  /** What waits is dropped: a watch that ends says so at once rather than after a long tail. */
  end(error: StoreError | undefined): void {
    if (this.#phase.state === "ended") return;
    this.#handedOut = this.revision;
    this.#source.leave(this.#prefix, this);
    this.#phase = { state: "ended", error };
    this.#drop();
    if (this.#reader !== undefined) this.#post();
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
    if (this.#pendingEvents > MAX_PENDING_EVENTS || this.#pendingBytes > MAX_PENDING_BYTES) {
      this.end(new StoreError("SlowWatcher", `watch of "${this.#prefix}" fell too far behind`));
      return;
    }
    if (this.#reader !== undefined) this.#post();
  }

  #isWanted(events: readonly WatchEvent[]): boolean {
    return (events[0]?.revision ?? 0) > this.#after;
  }

  /** At most one step is under way for a reader. */
  #post(): void {
    if (this.#isPosted) return;
    this.#isPosted = true;
    this.#source.loop.post(this.#lane, () => {
      const later = this.#step();
      if (later !== undefined) return later.finally(() => this.#stepped());
      return this.#stepped();
    });
  }

  #stepped(): void {
    this.#isPosted = false;
    if (this.#reader !== undefined && (this.#phase.state !== "live" || this.#pending.length > 0))
      this.#post();
  }

  #step(): Promise<void> | undefined {
    const phase = this.#phase;
    switch (phase.state) {
      case "ended":
        this.#finish(phase.error);
        return undefined;
      case "live":
        if (this.#pending.length > 0) this.#handOut(this.#takePending());
        return undefined;
      case "catching up":
        return this.#catchUp(phase.position);
    }
  }

  #catchUp(position: number): Promise<void> | undefined {
    try {
      const slice = this.#source.pull(position, this.#prefix);
      if (slice instanceof Promise)
        return slice.then((found) => this.#accept(found)).catch((error) => this.#fail(error));
      this.#accept(slice);
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  #accept({ events, through }: Slice): void {
    if (this.#phase.state === "ended") return;
    if (through >= this.#source.revision) {
      this.#phase = { state: "live" };
      this.#source.join(this.#prefix, this);
    } else {
      this.#phase = { state: "catching up", position: through };
    }
    this.#handedOut = through;
    if (events.length > 0) this.#handOut({ events, revision: through });
  }

  #fail(error: unknown): void {
    if (!(error instanceof StoreError)) throw error;
    this.end(error);
  }

  #takePending(): WatchBatch {
    const first = this.#pending[0] ?? [];
    const events = this.#pending.length === 1 ? first : this.#pending.flat();
    this.#drop();
    return { events, revision: this.#source.revision };
  }

  #drop(): void {
    this.#pending = [];
    this.#pendingEvents = 0;
    this.#pendingBytes = 0;
  }

  #handOut(batch: WatchBatch): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    this.#handedOut = batch.revision;
    reader.resolve({ done: false, value: batch });
  }

  #finish(error: StoreError | undefined): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (error === undefined) reader?.resolve({ done: true, value: undefined });
    else reader?.reject(error);
  }
}

/** Only the events under a prefix. */
export function eventsUnder(events: readonly WatchEvent[], prefix: string): WatchEvent[] {
  return events.filter((event) => isUnder(event.key, prefix));
}
