/** What plugins may look at: every object that was taken by the store, in the version it is kept in. */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, Mark, Store } from "../../store/store.ts";
import { StoredObject } from "./stored-object.ts";

/** Where objects of a kind are kept; `T` is what is found there. */
interface Shelf<T extends ApiObject> {
  readonly prefix: string;
  /** Never set: it says what the shelf holds. */
  readonly holds?: T;
}

export function shelf<T extends ApiObject>(storagePrefix: string): Shelf<T> {
  return { prefix: `/registry/${storagePrefix}/` };
}

/** The same few lists are asked for again and again. */
const LISTS_MAX = 64;
/** So are the same few objects; of each shelf that a plugin knows. */
const FOUND_MAX = 1000;

/** Some entries, and what they were found in. */
interface Listed {
  readonly mark: Mark;
  readonly entries: readonly Entry[];
  /** Once somebody has looked. */
  objects: readonly ApiObject[] | undefined;
}

export class ServerMemory {
  readonly #store: Store;
  readonly #lists = new Map<string, Listed>();
  readonly #found = new Map<string, { readonly mark: Mark; readonly objects: Map<string, ApiObject> }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves when everything can be found that any server has acknowledged before; undefined where that is so anyway. */
  caughtUp(): Promise<unknown> | undefined {
    return this.#store.freshView === undefined ? this.#store.fresh() : undefined;
  }

  /** `path` is the name, or namespace and name with a slash between them. */
  find<T extends ApiObject>({ prefix }: Shelf<T>, path: string): T | undefined {
    const { acceptedNow } = this.#store;
    const known = this.#foundIn(prefix, acceptedNow.mark(prefix));
    const found = known.get(path);
    if (found !== undefined) return found as T;
    const entry = acceptedNow.get(prefix + path);
    if (entry === undefined) return undefined;
    const { object } = StoredObject.of(entry);
    if (known.size >= FOUND_MAX) known.clear();
    known.set(path, object);
    return object as T;
  }

  /** In order of their names; those of one namespace when there is one. */
  list<T extends ApiObject>(shelf: Shelf<T>, namespace = ""): readonly T[] {
    const listed = this.#listed(shelf, namespace);
    listed.objects ??= listed.entries.map((entry) => StoredObject.of(entry).object);
    return listed.objects as readonly T[];
  }

  /** The same as they lie there. */
  entries(shelf: Shelf<ApiObject>, namespace: string): readonly Entry[] {
    return this.#listed(shelf, namespace).entries;
  }

  /** By path, what was found since the shelf was last changed. */
  #foundIn(prefix: string, mark: Mark): Map<string, ApiObject> {
    const known = this.#found.get(prefix);
    if (known?.mark === mark) return known.objects;
    const objects = new Map<string, ApiObject>();
    this.#found.set(prefix, { mark, objects });
    return objects;
  }

  #listed({ prefix }: Shelf<ApiObject>, namespace: string): Listed {
    const from = namespace === "" ? prefix : `${prefix}${namespace}/`;
    const mark = this.#store.acceptedNow.mark(prefix);
    const known = this.#lists.get(from);
    if (known?.mark === mark) return known;
    if (this.#lists.size >= LISTS_MAX) this.#lists.clear();
    const listed = {
      mark,
      entries: [...this.#store.accepted.range(from, prefixEnd(from))],
      objects: undefined,
    };
    this.#lists.set(from, listed);
    return listed;
  }

  /** The same without reading any of them: each is read by whoever looks at it. */
  *walk<T extends ApiObject>({ prefix }: Shelf<T>, namespace: string): Iterable<() => T> {
    const from = `${prefix}${namespace}/`;
    for (const entry of this.#store.accepted.range(from, prefixEnd(from)))
      yield () => StoredObject.of(entry).object as T;
  }
}
