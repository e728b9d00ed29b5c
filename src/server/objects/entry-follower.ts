/**
 * Follows the entries of a resource, for an index over them. Each `catchUp` costs only the changes since the last one.
 */
import { assert } from "../../base/assert.ts";
import { piecesOf } from "../../base/collections/pieces.ts";
import { runToEnd } from "../../base/loop/yielding-work.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { Entry, Mark, View } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";

interface FollowerParts {
  /** Key prefix of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  /** A changed entry is removed in its old form and added in its new one. */
  readonly apply: (removed: Iterable<Entry>, added: Iterable<Entry>) => void;
}

/** Objects per step: about two milliseconds for pods. */
const PIECE = 100;

interface Changes {
  readonly removed: Iterable<Entry>;
  readonly added: Iterable<Entry>;
}

export class EntryFollower {
  readonly #parts: FollowerParts;
  #mark: Mark | undefined;
  /** The first read of all entries, while it runs in pieces. */
  #beginning: Promise<void> | undefined;
  /** Changes up to the mark that are not applied yet. */
  #left: YieldingWork<void> | undefined;

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
    const changes = this.#changesUntil(view);
    if (changes === undefined) return false;
    this.#parts.apply(changes.removed, changes.added);
    return true;
  }

  /**
   * Applies the changes in pieces, and yields after each; returns true if there were any. The next `catchUp` applies
   * those that are left.
   */
  *catchUpInPieces(view: View): YieldingWork<boolean> {
    const changes = this.#changesUntil(view);
    if (changes === undefined) return false;
    this.#left = this.#applyInPieces(changes);
    yield* this.#left;
    return true;
  }

  /** Applies the changes that `catchUpInPieces` has left. Called before each read. */
  finish(): void {
    if (this.#left === undefined) return;
    runToEnd(this.#left);
    this.#left = undefined;
  }

  /** Entries of the view that differ from those last caught up with. */
  differing(view: View): readonly Entry[] {
    return this.#mark === undefined ? [] : view.changesSince(this.#mark, this.#parts.prefix).added;
  }

  /** Undefined if there are none. The caller applies them. */
  #changesUntil(view: View): Changes | undefined {
    assert(
      this.#beginning === undefined,
      "catchUp must not run during the first read; await ready() before it",
    );
    this.finish();
    const { prefix } = this.#parts;
    const mark = view.mark(prefix);
    const before = this.#mark;
    if (mark === before) return undefined;
    this.#mark = mark;
    if (before === undefined) return { removed: [], added: view.range(prefix, prefixEnd(prefix)) };
    return view.changesSince(before, prefix);
  }

  /** The old and the new form of an entry are in the same piece. Both lists are in the order of their keys. */
  *#applyInPieces({ removed, added }: Changes): YieldingWork<void> {
    const old = [...removed];
    let from = 0;
    for (const piece of piecesOf(added, PIECE)) {
      const last = piece.at(-1)?.key ?? "";
      let to = from;
      while (to < old.length && (old[to]?.key ?? "") <= last) to += 1;
      this.#parts.apply(old.slice(from, to), piece);
      from = to;
      yield;
    }
    for (const piece of piecesOf(old.slice(from), PIECE)) {
      this.#parts.apply(piece, []);
      yield;
    }
  }
}
