/**
 * A linked list in order of addition, with removal anywhere in constant time.
 *
 * A removed link points to no other link, and none to it. A Set or Map is copied as it grows and shrinks. A copy in
 * the old generation keeps its former items alive until a full garbage collection.
 */

/** An item's place in the list. */
export interface Link<T> {
  /** Undefined after the removal. */
  item: T | undefined;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #length = 0;

  /** The oldest link. */
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

  /** Returns the item; undefined when it was removed before. */
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
