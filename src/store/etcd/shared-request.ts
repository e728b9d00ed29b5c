/**
 * Shares one request to a remote server among all callers that wait. A response may describe a moment before a later
 * call, so it only serves callers from before the request was sent. Callers that arrive meanwhile share the next
 * request.
 */
export class SharedRequest<Answer> {
  readonly #ask: () => Promise<Answer>;
  #current: Promise<Answer> | undefined;
  #next: Promise<Answer> | undefined;

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask;
  }

  /** Returns the response to a request that is sent after this call. */
  answer(): Promise<Answer> {
    if (this.#current === undefined) return this.#send();
    this.#next ??= this.#current.then(
      () => this.#send(),
      () => this.#send(),
    );
    return this.#next;
  }

  #send(): Promise<Answer> {
    this.#next = undefined;
    const current = this.#ask().finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return current;
  }
}
