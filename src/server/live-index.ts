/**
 * Keeps something that is made of all objects of a resource as new as the store, at the cost of what has changed, whenever it is asked. The
 * objects themselves are not kept by it. One that cannot be read takes no part, and keeps nobody from being served.
 */
import type { ApiObject } from "../resources/kind-rules.ts";
import type { Entry, Mark, View } from "../store/store.ts";
import { prefixEnd } from "../store/store.ts";
import { findReadable } from "./stored-object.ts";

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

  /** For those who are not asked for long: what has changed meanwhile is kept as it was until they catch up. Nothing for one that nobody asked yet. */
  keepUp(view: View): void {
    if (this.#mark !== undefined) this.catchUp(view);
  }

  /** Answers whether anything was different from the last time. */
  catchUp(view: View): boolean {
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
