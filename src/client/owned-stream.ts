/** A stream that ends exactly once: by the server, by a signal, or because the reader closes it. */
import type { EndableSignal } from "./call-signal.ts";

export interface StreamCall extends EndableSignal {
  /** Turns an error into the one that the reader gets. */
  readonly explain?: (error: unknown) => Error;
}

/**
 * Can be read once. Rejects with the signal's reason when the signal ended it. `return` tears down the source at
 * once, even while `next` is pending; the pending `next` then reports the end.
 */
export class OwnedStream<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #source: AsyncIterator<T>;
  readonly #call: StreamCall;
  #state: "open" | "closed" | "over" = "open";

  constructor(items: AsyncIterable<T>, call: StreamCall) {
    this.#source = items[Symbol.asyncIterator]();
    this.#call = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#isOpen()) return OVER;
    const taken = await this.#taken();
    if (!this.#isOpen()) return OVER;
    if ("value" in taken) return { done: false, value: taken.value };
    this.#end("over");
    this.#call.signal.throwIfAborted();
    if (taken.broken !== undefined) throw taken.broken;
    return OVER;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    if (this.#state !== "open") return OVER;
    this.#end("closed");
    this.#call.abort(new Error("the reader closed the stream"));
    await this.#source.return?.();
    return OVER;
  }

  async #taken(): Promise<Taken<T>> {
    try {
      const next = await this.#source.next();
      return next.done === true ? { broken: undefined } : { value: next.value };
    } catch (error) {
      return { broken: this.#call.explain?.(error) ?? (error as Error) };
    }
  }

  #isOpen(): boolean {
    return this.#state === "open";
  }

  #end(state: "closed" | "over"): void {
    if (!this.#isOpen()) return;
    this.#state = state;
    this.#call.release();
  }
}

/** An item, or the end with its error, if any. */
type Taken<T> = { readonly value: T } | { readonly broken: Error | undefined };

const OVER = { done: true, value: undefined } as const;
