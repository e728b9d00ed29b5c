/** Pulls pieces from an iterator, each once the client has taken the one before. */
import type { Log } from "../../base/log/log.ts";
import type { Feed, FeedSink } from "../request/http.ts";

export class PulledFeed implements Feed {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #log: Log;
  #sink: FeedSink | undefined;

  constructor(pieces: AsyncIterable<Uint8Array>, log: Log) {
    this.#source = pieces[Symbol.asyncIterator]();
    this.#log = log;
  }

  start(sink: FeedSink): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    this.#source
      .next()
      .then((next) => (next.done === true ? this.#sink?.end() : this.#hand(next.value)))
      .catch((error: unknown) => this.#sink?.end(error));
  }

  /** Does not wait: a source that is producing a piece returns after that piece. */
  stop(): void {
    this.#sink = undefined;
    this.#source.return?.().then(undefined, (error: unknown) => {
      this.#log.warn("the source of a response failed while it was closed", { error });
    });
  }

  #hand(piece: Uint8Array): void {
    if (this.#sink?.send(piece) === true) this.resume();
  }
}
