/** Turns the events of a watch into pieces of its response. */
import type { WatchEventAnswer, WatchEvents } from "../request/answer.ts";
import type { Feed, Outlet } from "../request/http.ts";
import { joined } from "./bytes/pieces.ts";
import type { WatchBatcher, Listener } from "./watch-batcher.ts";
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
  readonly gathering: WatchBatcher;
}

export class WatchFeed implements Feed, Listener {
  readonly #events: WatchEvents;
  readonly #writer: FrameWriter;
  readonly #gathering: WatchBatcher;
  #outlet: Outlet | undefined;
  #hasRoom = true;
  /** Whether events may be waiting: the feed is enlisted, or waits for room. */
  #isBehind = false;
  #pieces: Iterator<Uint8Array> | undefined;
  /** Whether `#pieces` is a small batch: later events then wait to be batched. */
  #isGathered = false;

  constructor(events: WatchEvents, { writer, gathering }: WatchFeedTools) {
    this.#events = events;
    this.#writer = writer;
    this.#gathering = gathering;
  }

  start(outlet: Outlet): void {
    this.#outlet = outlet;
    this.#events.whenReady(() => this.#ready());
    this.#ready();
  }

  resume(): void {
    this.#hasRoom = true;
    if (this.#pieces !== undefined) this.serve();
    else if (this.#isBehind) this.#gathering.enlist(this);
  }

  stop(): void {
    this.#outlet = undefined;
    this.#events.close();
  }

  #ready(): void {
    if (this.#isBehind) return;
    this.#isBehind = true;
    if (this.#hasRoom) this.#gathering.enlist(this);
  }

  serve(): boolean {
    let isServed = false;
    try {
      while (this.#hasRoom && this.#outlet !== undefined) {
        const piece = this.#next();
        if (piece === undefined) break;
        this.#hasRoom = this.#outlet.send(piece);
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
        if (this.#isGathered) break;
      }
      const taken = this.#taken();
      if (taken === undefined) return undefined;
      this.#isGathered = taken.length <= SHARED_EVENTS_MAX;
      this.#pieces = piecesOf(taken, this.#writer);
    }
    this.#gathering.enlist(this);
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
    const outlet = this.#outlet;
    this.stop();
    outlet?.end(error);
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
  const pieces = [...joined(frames)];
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
