/** Binary heap: peek takes constant time, push and pop take logarithmic time. */

export class Heap<T> {
  readonly #isLess: (left: T, right: T) => boolean;
  readonly #items: T[] = [];

  constructor(isLess: (left: T, right: T) => boolean) {
    this.#isLess = isLess;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    let at = this.#items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return first;
    this.#items[0] = last;
    this.#sink();
    return first;
  }

  retain(isKept: (item: T) => boolean): void {
    const kept = this.#items.filter(isKept);
    this.#items.length = 0;
    for (const item of kept) this.push(item);
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      let least = at;
      if (left < this.#items.length && this.#isBefore(left, least)) least = left;
      if (left + 1 < this.#items.length && this.#isBefore(left + 1, least)) least = left + 1;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && this.#isLess(a, b);
  }

  #swap(left: number, right: number): void {
    const a = this.#items[left];
    const b = this.#items[right];
    if (a === undefined || b === undefined) return;
    this.#items[left] = b;
    this.#items[right] = a;
  }
}
