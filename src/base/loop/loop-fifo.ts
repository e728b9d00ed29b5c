/**
 * First in, first out, in constant time: a ring that doubles when full.
 *
 * Example, capacity 4 after `push` a…d, `shift` twice, `push` e: slots [e, -, c, d], head 2, length 3.
 */
export class Fifo<T> {
  /** The length is a power of two, so that a mask wraps an index. */
  #slots: (T | undefined)[] = emptySlots(SMALLEST);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = item;
    this.#length++;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length === 0 && this.#slots.length > KEPT_WHEN_EMPTY) this.#slots = emptySlots(SMALLEST);
    if (this.#length === 0) this.#head = 0;
    return item;
  }

  /** Removes the newest item. */
  pop(): T | undefined {
    if (this.#length === 0) return undefined;
    const at = (this.#head + this.#length - 1) & (this.#slots.length - 1);
    const item = this.#slots[at];
    this.#slots[at] = undefined;
    this.#length--;
    if (this.#length === 0) this.#head = 0;
    return item;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let i = 0; i < this.#length; i++) {
      const item = this.#slots[(this.#head + i) & (this.#slots.length - 1)];
      if (item !== undefined) yield item;
    }
  }

  #grow(): void {
    const { length } = this.#slots;
    this.#slots = [
      ...this.#slots.slice(this.#head),
      ...this.#slots.slice(0, this.#head),
      ...emptySlots(length),
    ];
    this.#head = 0;
  }
}

const SMALLEST = 8;
/** Capacity (64 KiB here) above which an empty fifo releases its memory after a burst. */
const KEPT_WHEN_EMPTY = 8192;

function emptySlots(count: number): undefined[] {
  return Array.from({ length: count }, () => undefined);
}
