/** The body of an answer as its bytes come. */
import type { IncomingMessage } from "node:http";

/**
 * Read once, by one reader. Nothing is taken from the socket before somebody asks. Rejects when the connection breaks before the body's
 * end. Left with `return`, the connection is closed at once, and whoever waits for bytes is told that there are no more.
 */
export class ByteStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #body: IncomingMessage;
  #state: "open" | "ended" | "left" | { readonly broken: Error } = "open";
  #wake: () => void = () => undefined;

  constructor(body: IncomingMessage) {
    this.#body = body;
    body.on("readable", () => this.#wake());
    body.on("end", () => this.#end(body.complete ? "ended" : { broken: cut() }));
    body.on("error", (error) => this.#end({ broken: error }));
    body.on("close", () => this.#end({ broken: cut() }));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const bytes = this.#state === "open" ? (this.#body.read() as Uint8Array | null) : null;
      if (bytes !== null) return { done: false, value: bytes };
      if (typeof this.#state === "object") throw this.#state.broken;
      if (this.#state !== "open") return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#end("left");
    this.#body.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The first end counts. */
  #end(state: "ended" | "left" | { readonly broken: Error }): void {
    if (this.#state === "open") this.#state = state;
    this.#wake();
  }
}

function cut(): Error {
  return new Error("the connection was closed before the end of the answer");
}
