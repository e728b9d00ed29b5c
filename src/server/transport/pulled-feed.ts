/** Pulls pieces from an iterator, each once the client has taken the one before. */
import type { Log } from "../../base/log/log.ts";
import type { Feed, Outlet } from "../request/http.ts";

export class PulledFeed implements Feed {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #log: Log;
  #outlet: Outlet | undefined;

  constructor(pieces: AsyncIterable<Uint8Array>, log: Log) {
    this.#source = pieces[Symbol.asyncIterator]();
    this.#log = log;
  }

  start(outlet: Outlet): void {
    this.#outlet = outlet;
    this.resume();
  }

  resume(): void {
    this.#source
      .next()
      .then((next) => (next.done === true ? this.#outlet?.end() : this.#hand(next.value)))
      .catch((error: unknown) => this.#outlet?.end(error));
  }

  /** Does not wait: a source that is producing a piece returns after that piece. */
  stop(): void {
    this.#outlet = undefined;
    this.#source.return?.().then(undefined, (error: unknown) => {
      this.#log.warn("the source of a response failed while it was closed", { error });
    });
  }

  #hand(piece: Uint8Array): void {
    if (this.#outlet?.send(piece) === true) this.resume();
  }
}
