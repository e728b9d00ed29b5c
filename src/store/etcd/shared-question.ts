/**
 * One question to a distant server for all who wait for the answer. An answer is only given to those who asked before the
 * question was sent, since it may describe a moment before a later caller came: who comes while one is under way gets
 * the next.
 */
export class SharedQuestion<Answer> {
  readonly #ask: () => Promise<Answer>;
  #current: Promise<Answer> | undefined;
  #next: Promise<Answer> | undefined;

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask;
  }

  /** The answer to a question that is sent after this call. */
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
