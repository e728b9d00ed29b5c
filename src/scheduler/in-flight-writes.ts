/** Bounds the writes in flight and reports when none is left. */

export class InFlightWrites {
  readonly #limit: number;
  readonly #onRoom: () => void;
  #count = 0;
  #onIdle: (() => void) | undefined;

  /** Calls `onRoom` after each write. */
  constructor(limit: number, onRoom: () => void) {
    this.#limit = limit;
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#count >= this.#limit;
  }

  get count(): number {
    return this.#count;
  }

  /** Settles as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
      this.#onRoom();
      if (this.#count === 0) this.#onIdle?.();
    }
  }

  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
