/**
 * Keeps an index over all objects of a resource current. Each `catchUp` costs only the changes since the last one.
 * The index does not retain the objects, and skips unreadable ones.
 */
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, View } from "../../store/store.ts";
import { EntryFollower } from "./entry-follower.ts";
import { findReadable } from "./stored-object.ts";

interface LiveIndexParts<T extends ApiObject> {
  /** Key prefix of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  readonly add: (object: T) => void;
  readonly remove: (object: T) => void;
}

export class LiveIndex<T extends ApiObject> {
  readonly #follower: EntryFollower;

  constructor({ prefix, add, remove }: LiveIndexParts<T>) {
    this.#follower = new EntryFollower({
      prefix,
      apply: (removed, added) => {
        each<T>(removed, remove);
        each<T>(added, add);
      },
    });
  }

  /** Undefined if `catchUp` can be called now; otherwise settles when it can. See EntryFollower. */
  ready(view: View, turn: () => Promise<void>): Promise<void> | undefined {
    return this.#follower.ready(view, turn);
  }

  /**
   * Keeps a rarely read index current: the store retains old entries until an index catches up. No-op before the
   * first read. Returns true if there were changes.
   */
  *keepUp(view: View): YieldingWork<boolean> {
    return this.#follower.hasBegun && (yield* this.#follower.catchUpInPieces(view));
  }

  /** Applies the changes; returns true if there were any. */
  catchUp(view: View): boolean {
    return this.#follower.catchUp(view);
  }
}

function each<T extends ApiObject>(entries: Iterable<Entry>, act: (object: T) => void): void {
  for (const entry of entries) {
    const object = findReadable(entry);
    if (object !== undefined) act(object as T);
  }
}
