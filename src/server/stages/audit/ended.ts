/** Wrappers of streams that report their end, for the audit event at the end of a long response. */
import type { Feed, FeedSink } from "../../request/http.ts";

/** The same pieces. Calls `tell` once when they end, fail or are closed, also before the first one. */
export function ended<T>(pieces: AsyncIterable<T>, tell: () => void): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new EndedIterator(pieces[Symbol.asyncIterator](), tell) };
}

class EndedIterator<T> implements AsyncIterator<T> {
  readonly #pieces: AsyncIterator<T>;
  #tell: (() => void) | undefined;

  constructor(pieces: AsyncIterator<T>, tell: () => void) {
    this.#pieces = pieces;
    this.#tell = tell;
  }

  async next(): Promise<IteratorResult<T>> {
    try {
      const result = await this.#pieces.next();
      if (result.done === true) this.#end();
      return result;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<T>> {
    this.#end();
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #end(): void {
    this.#tell?.();
    this.#tell = undefined;
  }
}

/** The same feed. Calls `tell` once when it ends or is stopped. */
export class EndedFeed implements Feed {
  readonly #feed: Feed;
  #tell: (() => void) | undefined;

  constructor(feed: Feed, tell: () => void) {
    this.#feed = feed;
    this.#tell = tell;
  }

  start(sink: FeedSink): void {
    this.#feed.start({
      send: (piece) => sink.send(piece),
      end: (error) => {
        this.#end();
        sink.end(error);
      },
    });
  }

  resume(): void {
    this.#feed.resume();
  }

  stop(): void {
    this.#end();
    this.#feed.stop();
  }

  #end(): void {
    this.#tell?.();
    this.#tell = undefined;
  }
}
