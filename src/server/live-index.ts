/**
 * Keeps something that is made of all objects of a resource as new as the store, at the cost of what has changed, whenever it is asked. The
 * objects themselves are not kept by it.
 */
import type { ApiObject } from "../resources/kind-rules.ts";
import type { Mark, View } from "../store/store.ts";
import { prefixEnd } from "../store/store.ts";
import { StoredObject } from "./stored-object.ts";

interface LiveIndexParts<T extends ApiObject> {
  /** Of all keys of the resource, such as `/registry/pods/`. */
  readonly prefix: string;
  readonly add: (object: T) => void;
  readonly remove: (object: T) => void;
}

export class LiveIndex<T extends ApiObject> {
  readonly #parts: LiveIndexParts<T>;
  #mark: Mark | undefined;

  constructor(parts: LiveIndexParts<T>) {
    this.#parts = parts;
  }

  /** Answers whether anything was different from the last time. */
  catchUp(view: View): boolean {
    const { prefix, add, remove } = this.#parts;
    const mark = view.mark(prefix);
    const before = this.#mark;
    if (mark === before) return false;
    if (before === undefined) {
      for (const entry of view.range(prefix, prefixEnd(prefix))) add(StoredObject.of(entry).glimpse() as T);
    } else {
      const { removed, added } = view.changesSince(before, prefix);
      for (const entry of removed) remove(StoredObject.of(entry).glimpse() as T);
      for (const entry of added) add(StoredObject.of(entry).glimpse() as T);
    }
    this.#mark = mark;
    return true;
  }
}
