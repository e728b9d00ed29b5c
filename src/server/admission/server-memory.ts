/** What plugins may look at: every object that was taken by the store, in the version it is kept in. */
import type { ApiObject } from "../../resources/kind-rules.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Store, View } from "../../store/store.ts";
import { StoredObject } from "../stored-object.ts";

/** Where objects of a kind are kept; `T` is what is found there. */
interface Shelf<T extends ApiObject> {
  readonly prefix: string;
  /** Never set: it says what the shelf holds. */
  readonly holds?: T;
}

export function shelf<T extends ApiObject>(storagePrefix: string): Shelf<T> {
  return { prefix: `/registry/${storagePrefix}/` };
}

/** Between two writes the same few lists are asked for. */
const LISTS_MAX = 64;

export class ServerMemory {
  readonly #store: Store;
  /** What was listed of the state that was looked at last. */
  readonly #lists = new Map<string, readonly ApiObject[]>();
  #view: View | undefined;

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
    const view = this.#store.accepted;
    if (view !== this.#view || this.#lists.size >= LISTS_MAX) this.#lists.clear();
    this.#view = view;
    const known = this.#lists.get(from);
    if (known !== undefined) return known as readonly T[];
    const found: T[] = [];
    for (const entry of view.range(from, prefixEnd(from))) found.push(StoredObject.of(entry).object as T);
    this.#lists.set(from, found);
    return found;
  }

  /** The same without reading any of them: each is read by whoever looks at it. */
  *walk<T extends ApiObject>({ prefix }: Shelf<T>, namespace: string): Iterable<() => T> {
    const from = `${prefix}${namespace}/`;
    for (const entry of this.#store.accepted.range(from, prefixEnd(from)))
      yield () => StoredObject.of(entry).object as T;
  }
}
