/** Watches whose events and reads the test controls. */
import type { WatchEventAnswer, WatchEvents } from "../request/answer.ts";
import type { Feed, FeedSink } from "../request/http.ts";

/** Pieces until the feed ends or the loop is left; each next piece is requested on demand. */
export async function* fedPieces(feed: Feed): AsyncGenerator<Uint8Array> {
  const inlet = new OnePieceSink();
  feed.start(inlet);
  try {
    for (let piece = await inlet.next; piece !== undefined; piece = await inlet.next) {
      yield piece;
      inlet.expect();
      feed.resume();
    }
  } finally {
    feed.stop();
  }
}

/** FeedSink with room for one piece. */
class OnePieceSink implements FeedSink {
  next: Promise<Uint8Array | undefined> = Promise.resolve(undefined);
  #resolve: (piece: Uint8Array | undefined) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.expect();
  }

  expect(): void {
    this.next = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  send(piece: Uint8Array): boolean {
    this.#resolve(piece);
    return false;
  }

  end(error?: unknown): void {
    if (error === undefined) this.#resolve(undefined);
    else this.#reject(error);
  }
}

/** Watch events that a test adds. */
export class TestEvents implements WatchEvents {
  readonly #batches: (readonly WatchEventAnswer[])[] = [];
  #tell: () => void = () => undefined;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(batch: readonly WatchEventAnswer[]): void {
    this.#batches.push(batch);
    this.#tell();
  }

  /** Batches added before the close are still delivered. */
  close(): void {
    this.#isClosed = true;
    this.#tell();
  }

  take(): readonly WatchEventAnswer[] | "end" | undefined {
    const waiting = this.#batches.splice(0);
    if (waiting.length === 0) return this.#isClosed ? "end" : undefined;
    return waiting.length === 1 ? waiting[0] : waiting.flat();
  }

  whenReady(listener: () => void): void {
    this.#tell = listener;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEventAnswer[]> {
    for (;;) {
      const taken = this.take();
      if (taken === "end") return;
      if (taken === undefined) await new Promise<void>((resolve) => this.whenReady(resolve));
      else yield taken;
    }
  }
}
