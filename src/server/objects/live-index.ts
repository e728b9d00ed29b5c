/**
 * Keeps something that is made of all objects of a resource as new as the store, at the cost of what has changed, whenever it is asked. The
 * objects themselves are not kept by it. One that cannot be read takes no part, and keeps nobody from being served.
 */
import { assert } from "../../base/assert.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, Mark, View } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";
import { findReadable } from "./stored-object.ts";

interface LiveIndexParts<T extends ApiObject> {
  /** Of all keys of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  readonly add: (object: T) => void;
  readonly remove: (object: T) => void;
}

/** Objects that are read in one step when all are read for the first time: about two milliseconds of a store of pods. */
const PIECE = 100;

export class LiveIndex<T extends ApiObject> {
  readonly #parts: LiveIndexParts<T>;
  #mark: Mark | undefined;
  /** All that there is being read for the first time, in pieces. */
  #beginning: Promise<void> | undefined;

  constructor(parts: LiveIndexParts<T>) {
    this.#parts = parts;
  }

  /**
   * Of those who can wait: undefined when `catchUp` can be called now, else settles when it can. What there is at first is read in pieces, and
   * `turn` lets others go on in between.
   */
  ready(view: View, turn: () => Promise<void>): Promise<void> | undefined {
    if (this.#mark !== undefined) return undefined;
    const { prefix } = this.#parts;
    if (this.#beginning === undefined && view.count(prefix, prefixEnd(prefix)) <= PIECE) return undefined;
    return (this.#beginning ??= this.#begin(view, turn));
  }

  async #begin(view: View, turn: () => Promise<void>): Promise<void> {
    const { prefix, add } = this.#parts;
    let piece: Entry[] = [];
    for (const entry of view.range(prefix, prefixEnd(prefix))) {
      piece.push(entry);
      if (piece.length < PIECE) continue;
      each<T>(piece, add);
      piece = [];
      await turn();
    }
    each<T>(piece, add);
    this.#mark = view.mark(prefix);
    this.#beginning = undefined;
  }

  /** For those who are not asked for long: what has changed meanwhile is kept as it was until they catch up. Nothing for one that nobody asked yet. */
  keepUp(view: View): void {
    if (this.#mark !== undefined) this.catchUp(view);
  }

  /** Answers whether anything was different from the last time. */
  catchUp(view: View): boolean {
    assert(this.#beginning === undefined, "who does not wait asks before or after those who do");
    const { prefix, add, remove } = this.#parts;
    const mark = view.mark(prefix);
    const before = this.#mark;
    if (mark === before) return false;
    if (before === undefined) {
      each<T>(view.range(prefix, prefixEnd(prefix)), add);
    } else {
      const { removed, added } = view.changesSince(before, prefix);
      each<T>(removed, remove);
      each<T>(added, add);
    }
    this.#mark = mark;
    return true;
  }
}

function each<T extends ApiObject>(entries: Iterable<Entry>, act: (object: T) => void): void {
  for (const entry of entries) {
    const object = findReadable(entry);
    if (object !== undefined) act(object as T);
  }
}
