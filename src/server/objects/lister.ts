/** Gives plugins read access to every object that the store has accepted, in its storage version. */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, Mark, Store } from "../../store/store.ts";
import { StoredObject } from "./stored-object.ts";

/** Prefix of the store keys of a kind; `T` is the type of its objects. */
interface KindPrefix<T extends ApiObject> {
  readonly prefix: string;
  /** Phantom member for the type `T`; never set. */
  readonly holds?: T;
}

export function kindPrefix<T extends ApiObject>(name: string): KindPrefix<T> {
  return { prefix: `/registry/${name}/` };
}

/** Plugins request the same few lists again and again. */
const LISTS_MAX = 64;
/** Bound per kind: plugins request the same few objects again and again. */
const FOUND_MAX = 1000;

/** Entries of a list, valid while the mark is unchanged. */
interface Listed {
  readonly mark: Mark;
  readonly entries: readonly Entry[];
  /** Set by the first read of the objects. */
  objects: readonly ApiObject[] | undefined;
}

export class ObjectLister {
  readonly #store: Store;
  readonly #lists = new Map<string, Listed>();
  readonly #found = new Map<string, { readonly mark: Mark; readonly objects: Map<string, ApiObject> }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves once every write that any server has acknowledged is visible; undefined if that holds already. */
  caughtUp(): Promise<unknown> | undefined {
    const fresh = this.#store.fresh();
    return fresh instanceof Promise ? fresh : undefined;
  }

  /** `path` is the name, or `NAMESPACE/NAME`. */
  find<T extends ApiObject>({ prefix }: KindPrefix<T>, path: string): T | undefined {
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

  /** Objects in the order of their names; only those of `namespace` unless it is empty. */
  list<T extends ApiObject>(kind: KindPrefix<T>, namespace = ""): readonly T[] {
    const listed = this.#listed(kind, namespace);
    listed.objects ??= listed.entries.map((entry) => StoredObject.of(entry).object);
    return listed.objects as readonly T[];
  }

  /** The same list as store entries. */
  entries(kind: KindPrefix<ApiObject>, namespace: string): readonly Entry[] {
    return this.#listed(kind, namespace).entries;
  }

  /** Objects by path, found since an object of the kind last changed. */
  #foundIn(prefix: string, mark: Mark): Map<string, ApiObject> {
    const known = this.#found.get(prefix);
    if (known?.mark === mark) return known.objects;
    const objects = new Map<string, ApiObject>();
    this.#found.set(prefix, { mark, objects });
    return objects;
  }

  #listed({ prefix }: KindPrefix<ApiObject>, namespace: string): Listed {
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

  /** Objects of a namespace, each parsed only when its function is called. */
  *walk<T extends ApiObject>({ prefix }: KindPrefix<T>, namespace: string): Iterable<() => T> {
    const from = `${prefix}${namespace}/`;
    for (const entry of this.#store.accepted.range(from, prefixEnd(from)))
      yield () => StoredObject.of(entry).object as T;
  }
}
