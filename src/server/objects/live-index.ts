/**
 * Keeps an index over all objects of a resource current. Each `catchUp` costs only the changes since the last one.
 * The index does not retain the objects, and skips unreadable ones.
 */
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
      apply: (changes) => {
        for (const { before, after } of changes) {
          tell(before, remove);
          tell(after, add);
        }
      },
    });
  }

  /** Applies the changes; returns true if there were any. */
  catchUp(view: View): boolean {
    return this.#follower.catchUp(view);
  }
}

function tell<T extends ApiObject>(entry: Entry | undefined, act: (object: T) => void): void {
  const object = entry === undefined ? undefined : findReadable(entry);
  if (object !== undefined) act(object as T);
}
