/** One whole number per node, indexed by the node's slot. */

const FIRST_SIZE = 64;

export class SlotNumbers {
  /** Value of unwritten slots, also beyond the end. */
  readonly empty: number;
  values: Int32Array;

  constructor(empty = 0) {
    this.empty = empty;
    this.values = new Int32Array(FIRST_SIZE).fill(empty);
  }

  at(slot: number): number {
    return this.values[slot] ?? this.empty;
  }

  set(slot: number, value: number): void {
    if (slot >= this.values.length) this.#grow(slot + 1);
    this.values[slot] = value;
  }

  add(slot: number, difference: number): void {
    this.set(slot, this.at(slot) + difference);
  }

  #grow(least: number): void {
    const grown = new Int32Array(Math.max(least, this.values.length * 2)).fill(this.empty);
    grown.set(this.values);
    this.values = grown;
  }
}
