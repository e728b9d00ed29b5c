/** The items of a stream, and its end: by the server, by a signal, or because it is left. */
import type { EndableSignal } from "./call-signal.ts";

export interface StreamCall extends EndableSignal {
  /** What the reader is told of an error. */
  readonly explain?: (error: unknown) => Error;
}

/**
 * Read once. Rejects with the signal's reason when that ended it. Left with `return`, everything below is torn down at once, also while
 * an item is being waited for; who waits for it is told that the stream is over.
 */
export class OwnedStream<T> implements AsyncIterable<T>, AsyncIterator<T, undefined> {
  readonly #source: AsyncIterator<T>;
  readonly #call: StreamCall;
  #state: "open" | "left" | "over" = "open";

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
    this.#end("left");
    this.#call.abort(new Error("the stream was left"));
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

  #end(state: "left" | "over"): void {
    if (!this.#isOpen()) return;
    this.#state = state;
    this.#call.release();
  }
}

/** An item, or the end of them and what broke, if anything did. */
type Taken<T> = { readonly value: T } | { readonly broken: Error | undefined };

const OVER = { done: true, value: undefined } as const;
