/** Things to do, each noted once however often it is added, taken in the order in which they were first noted. */
export class WorkSet<T> {
  readonly #items = new Set<T>();
  #isClosed = false;
  #wake: (() => void) | undefined;

  add(item: T): void {
    this.#items.add(item);
    this.#wake?.();
  }

  /** The next one, as soon as there is one; `undefined` once closed. One caller at a time. */
  async next(): Promise<T | undefined> {
    while (!this.#isClosed) {
      for (const item of this.#items) {
        this.#items.delete(item);
        return item;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }
}
