/** The body of a response that holds seats until its last piece is read or it is closed. */
export class HeldBody implements AsyncIterableIterator<Uint8Array> {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #leave: () => void;

  /** `leave` may be called more than once. */
  constructor(body: AsyncIterable<Uint8Array>, leave: () => void) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const piece = await this.#pieces.next();
      if (piece.done !== true) return piece;
      this.#leave();
      return { done: true, value: undefined };
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#leave();
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }
}
