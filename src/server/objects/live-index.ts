/**
 * Keeps an index over all objects of a resource current. Each `catchUp` costs only the changes since the last one.
 * The index does not retain the objects, and skips unreadable ones.
 */
import { assert } from "../../base/assert.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, Mark, View } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";
import { findReadable } from "./stored-object.ts";

interface LiveIndexParts<T extends ApiObject> {
  /** Key prefix of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  readonly add: (object: T) => void;
  readonly remove: (object: T) => void;
}

/** Objects per step of the first read: about two milliseconds for pods. */
const PIECE = 100;

export class LiveIndex<T extends ApiObject> {
  readonly #parts: LiveIndexParts<T>;
  #mark: Mark | undefined;
  /** The first read of all objects, while it runs in pieces. */
  #beginning: Promise<void> | undefined;

  constructor(parts: LiveIndexParts<T>) {
    this.#parts = parts;
  }

  /**
   * For callers that can wait. Undefined if `catchUp` can be called now; otherwise settles when it can. The first
   * read runs in pieces, with `turn` between them so that other work runs.
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

  /**
   * Keeps a rarely read index current: the store retains old entries until an index catches up. No-op before the
   * first read.
   */
  keepUp(view: View): void {
    if (this.#mark !== undefined) this.catchUp(view);
  }

  /** Applies the changes; returns true if there were any. */
  catchUp(view: View): boolean {
    assert(
      this.#beginning === undefined,
      "catchUp must not run during the first read; await ready() before it",
    );
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
