/**
 * Follows the entries of a resource, for an index over them. Each `catchUp` costs only the changes since the last one.
 */
import { assert } from "../../base/assert.ts";
import { piecesOf } from "../../base/collections/pieces.ts";
import { runToEnd } from "../../base/loop/yielding-work.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { Mark, MarkedChange, View } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";

interface FollowerParts {
  /** Key prefix of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  /** Takes over changes. The first read tells every entry as added. */
  readonly apply: (changes: Iterable<MarkedChange>) => void;
}

/** Objects per step: about two milliseconds for pods. */
const PIECE = 100;
/** Changes that a read may apply in its own step: revisions since the last one, an upper bound of the changes. */
const SOON = 500;

export class EntryFollower {
  readonly #parts: FollowerParts;
  #mark: Mark | undefined;
  #revision = 0;
  /** The first read of all entries, while it runs in pieces. */
  #beginning: Promise<void> | undefined;
  /** Changes up to the mark that are not applied yet. */
  #left: YieldingWork<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Revision of the newest view that was caught up with. */
  get revision(): number {
    return this.#revision;
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
   * For callers that can wait. Undefined if `catchUp` costs little now; otherwise settles when it does. The first
   * read, and many changes, are taken over in pieces, with `turn` between them so that other work runs.
   */
  ready(view: View, turn: () => Promise<void>): Promise<void> | undefined {
    if (this.#mark !== undefined)
      return this.#left === undefined && view.revision - this.#revision <= SOON
        ? undefined
        : this.#catchUpWithTurns(view, turn);
    const { prefix } = this.#parts;
    if (this.#beginning === undefined && view.count(prefix, prefixEnd(prefix)) <= PIECE) return undefined;
    return (this.#beginning ??= this.#begin(view, turn));
  }

  async #begin(view: View, turn: () => Promise<void>): Promise<void> {
    const { prefix, apply } = this.#parts;
    for (const piece of piecesOf(allOf(view, prefix), PIECE)) {
      apply(piece);
      if (piece.length === PIECE) await turn();
    }
    this.#moveTo(view);
    this.#beginning = undefined;
  }

  async #catchUpWithTurns(view: View, turn: () => Promise<void>): Promise<void> {
    for (const work = this.catchUpInPieces(view); work.next().done !== true;) await turn();
  }

  /** Applies the changes; returns true if there were any. */
  catchUp(view: View): boolean {
    this.finish();
    const changes = this.#changesUntil(view);
    if (changes === undefined) return false;
    this.#parts.apply(changes);
    return true;
  }

  /**
   * Applies the changes in pieces, and yields after each; returns true if there were any. The next `catchUp` applies
   * those that are left.
   */
  *catchUpInPieces(view: View): YieldingWork<boolean> {
    if (this.#left !== undefined) yield* this.#left;
    const changes = this.#changesUntil(view);
    if (changes === undefined) return false;
    this.#left = this.#applyInPieces(changes);
    yield* this.#left;
    return true;
  }

  /** Applies the changes that `catchUpInPieces` has left. Called before each read. */
  finish(): void {
    if (this.#left !== undefined) runToEnd(this.#left);
  }

  /** Keys of the view's entries that differ from those last caught up with. */
  *differing(view: View): Generator<string> {
    if (this.#mark === undefined) return;
    for (const { after } of view.changesSince(this.#mark, this.#parts.prefix))
      if (after !== undefined) yield after.key;
  }

  /** Undefined if there are none, or if the view is older than the last one. The caller applies them. */
  #changesUntil(view: View): Iterable<MarkedChange> | undefined {
    assert(
      this.#beginning === undefined,
      "catchUp must not run during the first read; await ready() before it",
    );
    if (view.revision < this.#revision) return undefined;
    const { prefix } = this.#parts;
    const before = this.#mark;
    if (this.#moveTo(view) === before) return undefined;
    return before === undefined ? allOf(view, prefix) : view.changesSince(before, prefix);
  }

  #moveTo(view: View): Mark {
    const mark = view.mark(this.#parts.prefix);
    this.#mark = mark;
    this.#revision = view.revision;
    return mark;
  }

  *#applyInPieces(changes: Iterable<MarkedChange>): YieldingWork<void> {
    for (const piece of piecesOf(changes, PIECE)) {
      this.#parts.apply(piece);
      yield;
    }
    this.#left = undefined;
  }
}

function* allOf(view: View, prefix: string): Generator<MarkedChange> {
  for (const after of view.range(prefix, prefixEnd(prefix))) yield { before: undefined, after };
}
