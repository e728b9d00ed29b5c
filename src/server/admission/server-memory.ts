/** What plugins may look at: every object that was taken by the store, in the version it is kept in. */
import type { ApiObject } from "../../resources/kind-rules.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Store } from "../../store/store.ts";
import { StoredObject } from "../stored-object.ts";

/** Where objects of a kind are kept; `T` is what is found there. */
export interface Shelf<T extends ApiObject> {
  readonly prefix: string;
  /** Never set: it says what the shelf holds. */
  readonly holds?: T;
}

export function shelf<T extends ApiObject>(storagePrefix: string): Shelf<T> {
  return { prefix: `/registry/${storagePrefix}/` };
}

export class ServerMemory {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** `path` is the name, or namespace and name with a slash between them. */
  find<T extends ApiObject>({ prefix }: Shelf<T>, path: string): T | undefined {
    const entry = this.#store.accepted.get(prefix + path);
    return entry === undefined ? undefined : (StoredObject.of(entry).object as T);
  }

  /** In order of their names; those of one namespace when there is one. */
  list<T extends ApiObject>({ prefix }: Shelf<T>, namespace = ""): readonly T[] {
    const from = namespace === "" ? prefix : `${prefix}${namespace}/`;
    const found: T[] = [];
    for (const entry of this.#store.accepted.range(from, prefixEnd(from)))
      found.push(StoredObject.of(entry).object as T);
    return found;
  }
}
