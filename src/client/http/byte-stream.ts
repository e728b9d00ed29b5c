/** The body of a response as a stream of bytes. */
import type { IncomingMessage } from "node:http";

/**
 * Can be read once, by one reader. Reads from the socket only on demand. Rejects when the connection breaks before
 * the end of the body. `return` closes the connection at once; a pending `next` then reports the end.
 */
export class ByteStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #body: IncomingMessage;
  #state: "open" | "ended" | "closed" | { readonly broken: Error } = "open";
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
    this.#end("closed");
    this.#body.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The first end wins. */
  #end(state: "ended" | "closed" | { readonly broken: Error }): void {
    if (this.#state === "open") this.#state = state;
    this.#wake();
  }
}

function cut(): Error {
  return new Error("the connection was closed before the end of the response");
}
