/**
 * Content of a cache, with its indexes. Returned lists never change: a change replaces only the lists it touches. An
 * update takes logarithmic time for each index in use.
 */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import { compileLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { SortedMap } from "../../base/collections/sorted-map.ts";
import type { Log } from "../../base/log/log.ts";
import { keyOfObject, keysWithin, keyText, namespaceOfKey } from "../refs/cache-key.ts";
import { controllerOf } from "../refs/owner-reference.ts";
import type { CacheFilter, CacheView, IndexFunction } from "./cache-view.ts";
import type { ObjectChange } from "./object-change.ts";
import { ObjectIndex, objectsOf } from "./object-index.ts";
import type { CacheEntry } from "./object-index.ts";

/** Upper bound of label indexes. They are created for the labels used in queries; each costs memory. */
const MAX_LABEL_INDEXES = 4;
/** Up to this many objects are scanned, which is faster than building an index. */
const SMALL_SIZE = 64;

export class CacheContent<T extends ApiObject> implements CacheView<T> {
  #order = SortedMap.empty<CacheEntry<T>>();
  /** List of all objects; created on demand. */
  #all: readonly T[] | undefined;
  /** Lists of single namespaces; created on demand. */
  readonly #lists = new Map<string, readonly T[]>();
  /** Created on demand, like `#controllers`. */
  #owners: ObjectIndex<T> | undefined;
  #controllers: ObjectIndex<T> | undefined;
  readonly #labels = new Map<string, ObjectIndex<T>>();
  readonly #indexes = new Map<string, NamedIndex<T>>();
  /** All indexes above that exist. */
  readonly #usedIndexes: ObjectIndex<T>[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get size(): number {
    return this.#order.size;
  }

  find(key: ObjectKey): T | undefined {
    return this.#order.get(keyText(key))?.object;
  }

  list({ namespace, labels }: CacheFilter = {}): readonly T[] {
    if (labels === undefined) return this.#within(namespace);
    const selector = compileLabelSelector(labels);
    if (selector.requirements.length === 0) return this.#within(namespace);
    return this.#selectable(namespace, selector).filter(
      ({ metadata }) =>
        (namespace === undefined || (metadata.namespace ?? "") === namespace) &&
        labelsMatch(selector, metadata.labels),
    );
  }

  ownedBy(owner: ApiObject): readonly T[] {
    const { uid } = owner.metadata;
    if (uid === undefined) return [];
    return this.#byController(uid);
  }

  uncontrolled(namespace: string): readonly T[] {
    return this.#byController(UNCONTROLLED + namespace);
  }

  dependentsOf(uid: string): readonly T[] {
    this.#owners ??= this.#indexed(ownerUids);
    return this.#owners.find(uid);
  }

  #byController(value: string): readonly T[] {
    this.#controllers ??= this.#indexed(controllerValue);
    return this.#controllers.find(value);
  }

  indexed(name: string, value: string): readonly T[] {
    const named = this.#indexes.get(name);
    if (named === undefined)
      throw new Error(`there is no index "${name}": name it in the definition's indexes`);
    return named.index.find(value);
  }

  /** A name stands for one function. A function that throws for an object adds no values for it. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(name);
    if (known !== undefined && known.valuesOf !== valuesOf)
      throw new Error(`there is another index "${name}" already`);
    if (known !== undefined) return;
    const index = this.#indexed((object) => this.#valuesOf(name, valuesOf, object));
    this.#indexes.set(name, { valuesOf, index });
  }

  /** No-op for a state that is already cached. An object of the same name with another uid is another object. */
  put(object: T): readonly ObjectChange<T>[] {
    const key = keyOfObject(object);
    const entry = this.#order.get(key);
    if (entry !== undefined) return isSameState(entry.object, object) ? [] : this.#replace(entry, object);
    const added = { key, object };
    this.#order = this.#order.set(added);
    this.#add(added);
    return [{ before: undefined, after: object }];
  }

  /** No-op for an object that is not cached. */
  remove(object: T): readonly ObjectChange<T>[] {
    const key = keyOfObject(object);
    const entry = this.#order.get(key);
    if (entry === undefined || !isSameObject(entry.object, object)) return [];
    this.#order = this.#order.delete(key);
    return this.#remove(entry);
  }

  /** Replaces the content with these objects. Returns the changes in order of namespace and name. */
  replace(objects: readonly T[]): readonly ObjectChange<T>[] {
    const { order, differences } = merge(this.#order, sorted(objects));
    this.#order = order;
    return differences.flatMap(({ entry, after }) => {
      if (after === undefined) return this.#remove(entry);
      if (after !== entry.object) return this.#replace(entry, after);
      this.#add(entry);
      return [{ before: undefined, after }];
    });
  }

  #add(entry: CacheEntry<T>): void {
    this.#dropLists(entry);
    for (const index of this.#usedIndexes) index.add(entry);
  }

  #remove(entry: CacheEntry<T>): readonly ObjectChange<T>[] {
    this.#dropLists(entry);
    for (const index of this.#usedIndexes) index.remove(entry);
    return [{ before: entry.object, after: undefined }];
  }

  /** Another object under the same name makes two changes: a deletion and a creation. */
  #replace(entry: CacheEntry<T>, after: T): readonly ObjectChange<T>[] {
    const before = entry.object;
    entry.object = after;
    this.#dropLists(entry);
    for (const index of this.#usedIndexes) index.replace(before, entry);
    if (isSameObject(before, after)) return [{ before, after }];
    return [
      { before, after: undefined },
      { before: undefined, after },
    ];
  }

  /** Drops the lists that contain the object. Callers that hold them keep them unchanged. */
  #dropLists({ key }: CacheEntry<T>): void {
    this.#all = undefined;
    if (this.#lists.size > 0) this.#lists.delete(namespaceOfKey(key));
  }

  #valuesOf(name: string, valuesOf: IndexFunction<T>, object: T): readonly string[] {
    try {
      return valuesOf(object);
    } catch (error) {
      const { namespace, name: objectName } = object.metadata;
      this.#log.error("an index function failed", { index: name, namespace, name: objectName, error });
      return [];
    }
  }

  #indexed(valuesOf: IndexFunction<T>): ObjectIndex<T> {
    const index = new ObjectIndex(valuesOf);
    for (const entry of this.#order.range("", "\uffff")) index.add(entry);
    this.#usedIndexes.push(index);
    return index;
  }

  #within(namespace: string | undefined): readonly T[] {
    if (namespace === undefined) {
      this.#all ??= objectsOf(this.#order);
      return this.#all;
    }
    const known = this.#lists.get(namespace);
    if (known !== undefined) return known;
    const list = objectsOf(this.#order, keysWithin(namespace));
    if (list.length > 0) this.#lists.set(namespace, list);
    return list;
  }

  /** The shortest available list that contains all objects of the namespace that the selector can match. */
  #selectable(namespace: string | undefined, { requirements }: LabelSelector): readonly T[] {
    let fewest = namespace === undefined ? this.size : this.#order.count(...keysWithin(namespace));
    let shortest: (() => readonly T[]) | undefined;
    for (const { key, operator, values } of requirements) {
      const [value] = values;
      if (fewest <= SMALL_SIZE) break;
      if ((operator !== "=" && operator !== "in") || values.length !== 1 || value === undefined) continue;
      const index = this.#labelIndex(key);
      if (index === undefined || index.count(value) >= fewest) continue;
      fewest = index.count(value);
      shortest = () => index.find(value);
    }
    return shortest?.() ?? this.#within(namespace);
  }

  #labelIndex(label: string): ObjectIndex<T> | undefined {
    const known = this.#labels.get(label);
    if (known !== undefined || this.#labels.size >= MAX_LABEL_INDEXES) return known;
    const index = this.#indexed(({ metadata: { labels } }) => {
      const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
      return value === undefined ? [] : [value];
    });
    this.#labels.set(label, index);
    return index;
  }
}

interface NamedIndex<T extends ApiObject> {
  readonly valuesOf: IndexFunction<T>;
  readonly index: ObjectIndex<T>;
}

function ownerUids({ metadata: { ownerReferences = [] } }: ApiObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid);
}

/** Prefix of the index value of objects without a controller; the namespace follows. No uid begins with it. */
const UNCONTROLLED = "\0";

function controllerValue(object: ApiObject): readonly string[] {
  return [controllerOf(object)?.uid ?? UNCONTROLLED + (object.metadata.namespace ?? "")];
}

function isSameObject(left: ApiObject, right: ApiObject): boolean {
  return left.metadata.uid === right.metadata.uid;
}

function isSameState(left: ApiObject, right: ApiObject): boolean {
  return isSameObject(left, right) && left.metadata.resourceVersion === right.metadata.resourceVersion;
}

/** In order of keys; of several objects with one key, the last. */
function sorted<T extends ApiObject>(objects: readonly T[]): readonly CacheEntry<T>[] {
  const entries = objects.map((object) => ({ key: keyOfObject(object), object }));
  entries.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return entries.filter(({ key }, index) => entries[index + 1]?.key !== key);
}

interface Difference<T extends ApiObject> {
  /** The entry with its previous object; a new entry has its object already. */
  readonly entry: CacheEntry<T>;
  /** The new object of the entry; undefined when it is removed. */
  readonly after: T | undefined;
}

/** Walks both in order. Objects that are cached already keep their entry. */
function merge<T extends ApiObject>(
  old: SortedMap<CacheEntry<T>>,
  incoming: readonly CacheEntry<T>[],
): { readonly order: SortedMap<CacheEntry<T>>; readonly differences: readonly Difference<T>[] } {
  const differences: Difference<T>[] = [];
  const result: CacheEntry<T>[] = [];
  const rest = old.range("", "\uffff");
  let before = rest.next();
  for (const fresh of incoming) {
    for (; before.done !== true && before.value.key < fresh.key; before = rest.next())
      differences.push({ entry: before.value, after: undefined });
    const known = before.done !== true && before.value.key === fresh.key ? before.value : undefined;
    if (known !== undefined) before = rest.next();
    const entry = known ?? fresh;
    if (known === undefined || !isSameState(known.object, fresh.object))
      differences.push({ entry, after: fresh.object });
    result.push(entry);
  }
  for (; before.done !== true; before = rest.next())
    differences.push({ entry: before.value, after: undefined });
  return { order: SortedMap.fromSorted(result), differences };
}
