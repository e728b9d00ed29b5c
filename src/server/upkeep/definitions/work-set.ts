/** A queue without duplicates, in the order of the first addition. */
export class WorkSet<T> {
  readonly #items = new Set<T>();
  #isClosed = false;
  #wake: (() => void) | undefined;

  add(item: T): void {
    this.#items.add(item);
    this.#wake?.();
  }

  /** Resolves with the next item, or `undefined` once closed. Only one caller may wait. */
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
