/** An entry with a due time. */
export interface DueEntry {
  readonly at: number;
  /** Order of entries with the same time; smaller first. */
  readonly tie: number;
  /** Index in the heap; -1 outside of it. Only the heap writes it. */
  index: number;
}

/** Timers by due time: a binary heap whose entries know their index, so that cancelling needs no search. */
export class TimerHeap<Entry extends DueEntry> {
  readonly #entries: Entry[] = [];

  get next(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#rise(entry, this.#entries.length - 1);
  }

  /** No-op for an entry that is not in the heap. */
  remove(entry: Entry): void {
    const { index } = entry;
    if (index < 0) return;
    entry.index = -1;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#rise(last, index);
    this.#sink(last, last.index);
  }

  /** Removes and returns the next entry if it is due at `now`. */
  takeDue(now: number): Entry | undefined {
    const entry = this.#entries[0];
    if (entry === undefined || entry.at > now) return undefined;
    this.remove(entry);
    return entry;
  }

  /** In no particular order. */
  [Symbol.iterator](): Iterator<Entry> {
    return this.#entries.values();
  }

  #rise(entry: Entry, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#entries[parentIndex];
      if (parent === undefined || !isBefore(entry, parent)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(entry, index);
  }

  #sink(entry: Entry, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#smallerChild(index);
      if (child === undefined || !isBefore(child, entry)) break;
      const childIndex = child.index;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(entry, index);
  }

  #smallerChild(index: number): Entry | undefined {
    const left = this.#entries[2 * index + 1];
    const right = this.#entries[2 * index + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #put(entry: Entry, index: number): void {
    this.#entries[index] = entry;
    entry.index = index;
  }
}

function isBefore(a: DueEntry, b: DueEntry): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
