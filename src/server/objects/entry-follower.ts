/**
 * Follows the entries of a resource, for an index over them. Each `catchUp` costs only the changes since the last one.
 */
import { assert } from "../../base/assert.ts";
import type { Entry, Mark, View } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";

interface FollowerParts {
  /** Key prefix of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  /** A changed entry is removed in its old form and added in its new one. */
  readonly apply: (removed: Iterable<Entry>, added: Iterable<Entry>) => void;
}

/** Objects per step of the first read: about two milliseconds for pods. */
const PIECE = 100;

export class EntryFollower {
  readonly #parts: FollowerParts;
  #mark: Mark | undefined;
  /** The first read of all entries, while it runs in pieces. */
  #beginning: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** True once all entries were read. */
  get hasBegun(): boolean {
    return this.#mark !== undefined;
  }

  /** True while the first read runs in pieces. */
  get isBeginning(): boolean {
    return this.#beginning !== undefined;
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
    const { prefix, apply } = this.#parts;
    let piece: Entry[] = [];
    for (const entry of view.range(prefix, prefixEnd(prefix))) {
      piece.push(entry);
      if (piece.length < PIECE) continue;
      apply([], piece);
      piece = [];
      await turn();
    }
    apply([], piece);
    this.#mark = view.mark(prefix);
    this.#beginning = undefined;
  }

  /** Applies the changes; returns true if there were any. */
  catchUp(view: View): boolean {
    assert(
      this.#beginning === undefined,
      "catchUp must not run during the first read; await ready() before it",
    );
    const { prefix, apply } = this.#parts;
    const mark = view.mark(prefix);
    const before = this.#mark;
    if (mark === before) return false;
    if (before === undefined) {
      apply([], view.range(prefix, prefixEnd(prefix)));
    } else {
      const { removed, added } = view.changesSince(before, prefix);
      apply(removed, added);
    }
    this.#mark = mark;
    return true;
  }

  /** Entries of the view that differ from those last caught up with. */
  differing(view: View): readonly Entry[] {
    return this.#mark === undefined ? [] : view.changesSince(this.#mark, this.#parts.prefix).added;
  }
}
