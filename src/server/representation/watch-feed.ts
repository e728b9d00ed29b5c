/**
 * Turns the events of a watch into pieces of its response. A batcher serves the watchers one after the other. A served
 * watcher waits a moment, so that later events reach it in one piece: a socket write costs several times as much as an
 * event. A quiet watcher is served at once.
 */
import type { Loop } from "../../base/loop/loop.ts";
import type { WatchEventAnswer, WatchEvents } from "../request/answer.ts";
import type { Feed, FeedSink } from "../request/http.ts";
import { joined } from "./bytes/pieces.ts";
import type { FrameWriter } from "./watch-frames.ts";

/**
 * A batch up to this size is a change that other watchers also see, and they share its bytes. A larger one is the
 * initial state.
 */
const SHARED_EVENTS_MAX = 64;
/** A watcher with a larger batch is far behind, so few others could share its bytes. */
const SHARED_BYTES_MAX = 1 << 20;

export interface WatchFeedTools {
  readonly writer: FrameWriter;
  readonly batcher: WatchBatcher;
}

export class WatchFeed implements Feed, BatchMember {
  readonly #events: WatchEvents;
  readonly #writer: FrameWriter;
  readonly #batcher: WatchBatcher;
  #sink: FeedSink | undefined;
  #hasRoom = true;
  /** Whether events may be waiting: the feed is scheduled, or waits for room. */
  #isBehind = false;
  #pieces: Iterator<Uint8Array> | undefined;
  /** Whether `#pieces` is a small batch: later events then wait to be batched. */
  #isBatch = false;

  constructor(events: WatchEvents, { writer, batcher }: WatchFeedTools) {
    this.#events = events;
    this.#writer = writer;
    this.#batcher = batcher;
  }

  start(sink: FeedSink): void {
    this.#sink = sink;
    this.#events.whenReady(() => this.#ready());
    this.#ready();
  }

  resume(): void {
    this.#hasRoom = true;
    if (this.#pieces !== undefined) this.serve();
    else if (this.#isBehind) this.#batcher.schedule(this);
  }

  stop(): void {
    this.#sink = undefined;
    this.#events.close();
  }

  #ready(): void {
    if (this.#isBehind) return;
    this.#isBehind = true;
    if (this.#hasRoom) this.#batcher.schedule(this);
  }

  serve(): boolean {
    let isServed = false;
    try {
      while (this.#hasRoom && this.#sink !== undefined) {
        const piece = this.#next();
        if (piece === undefined) break;
        this.#hasRoom = this.#sink.send(piece);
        isServed = true;
      }
    } catch (error) {
      this.#end(error);
    }
    // A feed without room waits with the served ones, so that all reach the same position and share later pieces.
    return isServed || !this.#hasRoom;
  }

  /** Undefined when no piece is available now. */
  #next(): Uint8Array | undefined {
    for (;;) {
      const next = this.#pieces?.next();
      if (next?.done === false) return next.value;
      if (next !== undefined) {
        this.#pieces = undefined;
        if (this.#isBatch) break;
      }
      const taken = this.#taken();
      if (taken === undefined) return undefined;
      this.#isBatch = taken.length <= SHARED_EVENTS_MAX;
      this.#pieces = piecesOf(taken, this.#writer);
    }
    this.#batcher.schedule(this);
    return undefined;
  }

  #taken(): Events | undefined {
    const taken = this.#events.take();
    this.#isBehind = taken !== undefined;
    if (taken !== "end") return taken;
    this.#end(undefined);
    return undefined;
  }

  #end(error: unknown): void {
    const sink = this.#sink;
    this.stop();
    sink?.end(error);
  }
}

type Events = readonly WatchEventAnswer[];

/** Pieces shared by watchers that get the same events in the same form. */
const shared = new WeakMap<Events, Map<string, readonly Uint8Array[]>>();

function piecesOf(events: Events, writer: FrameWriter): Iterator<Uint8Array> {
  const { name } = writer;
  if (name === undefined || events.length > SHARED_EVENTS_MAX) return joined(partsOf(events, writer));
  const known = shared.get(events)?.get(name);
  if (known !== undefined) return known.values();
  const frames = events.map((event) => writer.frame(event));
  if (bytesOf(frames) > SHARED_BYTES_MAX) return joined(frames);
  const pieces = frames.length === 1 ? frames : [...joined(frames)];
  const forms = shared.get(events) ?? new Map<string, readonly Uint8Array[]>();
  shared.set(events, forms.set(name, pieces));
  return pieces.values();
}

function bytesOf(frames: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { byteLength } of frames) bytes += byteLength;
  return bytes;
}

function* partsOf(events: Events, writer: FrameWriter): Generator<Uint8Array> {
  for (const event of events) yield* writer.parts(event);
}

/** A fifth of the allowed 99th-percentile delay of events, which is 25 ms. */
const MOMENT_MS = 5;
/**
 * Time from one round of serving all watchers to the next, for each of them. More watchers wait longer: a socket write
 * costs most of a delivery, and in a longer round each write carries more events.
 */
const ROUND_MS_PER_WATCHER = 0.1;
/** Leaves a third of the allowed delay for serving. */
const ROUND_MS_MAX = 16;
/**
 * After this time the loop runs other steps. Several hundred watchers fit in one turn: repeating the same work is
 * faster. With turns of 2 ms the last of 500 got its events a third later.
 */
const TURN_MS = 10;

/** A watcher that is served. */
export interface BatchMember {
  /** Delivers the waiting events. False when there were none, so that it need not wait next time. Does not throw. */
  serve(): boolean;
}

type Clock = Pick<Loop, "elapsed" | "now" | "post" | "timer">;

export class WatchBatcher {
  readonly #loop: Clock;
  /** Served in the next posted step. */
  readonly #due = new Set<BatchMember>();
  /** Listeners served in the current moment. */
  #served = new Set<BatchMember>();
  /** Served listeners with new events. */
  #waiting = new Set<BatchMember>();
  #isPosted = false;
  #isMoment = false;
  /** Time (`Loop.elapsed`) at which the serving before this moment began. */
  #roundAt = 0;

  constructor(loop: Clock) {
    this.#loop = loop;
  }

  /** Schedules the listener, never synchronously. Repeated calls before it is served have no effect. */
  schedule(listener: BatchMember): void {
    if (this.#served.has(listener)) this.#waiting.add(listener);
    else {
      this.#due.add(listener);
      this.#post();
    }
  }

  #post(): void {
    if (this.#isPosted) return;
    this.#isPosted = true;
    this.#loop.post("request", () => {
      this.#isPosted = false;
      this.#serve();
    });
  }

  #serve(): void {
    const now = this.#loop.elapsed();
    if (this.#served.size === 0) this.#roundAt = now;
    const endAt = now + TURN_MS;
    for (const listener of this.#due) {
      this.#due.delete(listener);
      // Added first: `serve` may schedule the listener again, which must then wait.
      this.#served.add(listener);
      if (!listener.serve()) this.#served.delete(listener);
      if (this.#loop.elapsed() >= endAt) break;
    }
    if (this.#due.size > 0) this.#post();
    else if (this.#served.size > 0 && !this.#isMoment) this.#beginMoment();
  }

  #beginMoment(): void {
    this.#isMoment = true;
    const roundMs = Math.min(this.#served.size * ROUND_MS_PER_WATCHER, ROUND_MS_MAX);
    const ms = Math.max(MOMENT_MS, roundMs - (this.#loop.elapsed() - this.#roundAt));
    this.#loop.timer(this.#loop.now() + ms, "progress", () => this.#endMoment());
  }

  #endMoment(): void {
    this.#isMoment = false;
    this.#served = new Set();
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const listener of waiting) this.#due.add(listener);
    if (this.#due.size > 0) this.#serve();
  }
}
