/**
 * Things in the order in which they came, each of which may leave at any time, all of it in constant time.
 *
 * What has left points to nobody here, and nobody to it. A Set or a Map in which things come and go is copied as it grows and shrinks: a copy that has
 * grown old keeps what was in it, and all that this points to, from being collected before everything is.
 */

/** The place of a thing. */
export interface Link<T> {
  /** Gone once it has left. */
  item: T | undefined;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

export class Chain<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #length = 0;

  /** The oldest. */
  get first(): Link<T> | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  add(item: T): Link<T> {
    const before = this.#last;
    const link: Link<T> = { item, before, after: undefined };
    if (before === undefined) this.#first = link;
    else before.after = link;
    this.#last = link;
    this.#length += 1;
    return link;
  }

  /** Says what was there; undefined when it has left before. */
  remove(link: Link<T>): T | undefined {
    const { item, before, after } = link;
    if (item === undefined) return undefined;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    link.item = undefined;
    link.before = undefined;
    link.after = undefined;
    this.#length -= 1;
    return item;
  }
}
