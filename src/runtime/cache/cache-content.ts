/**
 * Content of a cache, with its indexes. Returned lists never change: a change replaces only the lists it touches. An
 * update takes logarithmic time for each index in use.
 */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import { parseLabelSelector } from "../../api/selectors/label-query.ts";
import { compileLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { SortedMap } from "../../base/collections/sorted-map.ts";
import type { Log } from "../../base/log/log.ts";
import { inSlices, SLICE_ITEMS } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import { keyOfObject, keysWithin, keyText, namespaceOfKey } from "../refs/cache-key.ts";
import { controllerOf } from "../refs/owner-reference.ts";
import { inOrder, pairsOf, slicesOf } from "./cache-reset.ts";
import type { Pair } from "./cache-reset.ts";
import type { CacheFilter, CacheView, IndexFunction } from "./cache-view.ts";
import type { ObjectChange } from "./object-change.ts";
import { LAST, ObjectIndex, objectsOf } from "./object-index.ts";
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
  /** Labels whose index is being built in slices. */
  readonly #building = new Set<string>();
  readonly #indexes = new Map<string, NamedIndex<T>>();
  /** All indexes above that exist. */
  readonly #usedIndexes: ObjectIndex<T>[] = [];
  readonly #log: Log;
  #visited = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  get size(): number {
    return this.#order.size;
  }

  /** Objects that reads have visited so far; those that a read scanned in vain count as well. */
  get visited(): number {
    return this.#visited;
  }

  find(key: ObjectKey): T | undefined {
    this.#visited += 1;
    return this.#order.get(keyText(key))?.object;
  }

  countIn(namespace: string): number {
    return this.#order.count(...keysWithin(namespace));
  }

  /** Skips objects that were removed since the walk began, and shows newer states of the others. */
  *walk(namespace?: string): Generator<T, void> {
    for (const { object } of this.#walkEntries(namespace)) yield object;
  }

  *#walkEntries(namespace?: string): Generator<CacheEntry<T>, void> {
    const [from, to] = namespace === undefined ? ["", LAST] : keysWithin(namespace);
    for (const entry of this.#order.range(from, to)) {
      if (this.#order.get(entry.key) !== entry) continue;
      this.#visited += 1;
      yield entry;
    }
  }

  list({ namespace, labels }: CacheFilter = {}): readonly T[] {
    if (labels === undefined) return this.#visit(this.#within(namespace));
    const selector = compiled(labels);
    if (selector.requirements.length === 0) return this.#visit(this.#within(namespace));
    return this.#visit(this.#selectable(namespace, selector)).filter(
      ({ metadata }) =>
        (namespace === undefined || (metadata.namespace ?? "") === namespace) &&
        labelsMatch(selector, metadata.labels),
    );
  }

  *select(filter: CacheFilter): YieldingWork<readonly T[]> {
    const { requirements } = compiled(filter.labels ?? {});
    for (const requirement of requirements)
      if (valueIn(requirement) !== undefined) yield* this.#indexLabel(requirement.key);
    return this.list(filter);
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
    return this.#visit(this.#owners.find(uid));
  }

  #byController(value: string): readonly T[] {
    return this.#visit(this.#controllerIndex().find(value));
  }

  #controllerIndex(): ObjectIndex<T> {
    this.#controllers ??= this.#indexed(controllerValue);
    return this.#controllers;
  }

  #visit(objects: readonly T[]): readonly T[] {
    this.#visited += objects.length;
    return objects;
  }

  indexed(name: string, value: string): readonly T[] {
    return this.#visit(this.#namedIndex(name).find(value));
  }

  indexValues(name: string): Iterable<string> {
    return this.#namedIndex(name).values();
  }

  #namedIndex(name: string): ObjectIndex<T> {
    const named = this.#indexes.get(name);
    if (named === undefined)
      throw new Error(`there is no index "${name}": name it in the definition's indexes`);
    return named.index;
  }

  /** Creates the index by controller now. Otherwise the first read creates it, which visits all objects at once. */
  indexControllers(): void {
    this.#controllerIndex();
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

  /**
   * Replaces the content with these objects, in slices. Calls `notify` with the changes of each slice, in order of
   * namespace and name.
   */
  *replace(objects: readonly T[], notify: (changes: readonly ObjectChange<T>[]) => void): YieldingWork<void> {
    const wanted = yield* inOrder(objects);
    const old = this.#order;
    const isFirst = old.size === 0;
    // The first content is taken as a whole: nothing reads the cache before it is complete.
    if (isFirst) this.#order = wanted;
    for (const slice of slicesOf(pairsOf(old, wanted))) {
      notify(slice.flatMap((pair) => this.#become(pair, isFirst)));
      if (slice.length === SLICE_ITEMS) yield;
    }
  }

  #become({ old, wanted }: Pair<T>, isFirst: boolean): readonly ObjectChange<T>[] {
    if (old === undefined && wanted === undefined) return [];
    if (wanted === undefined) return old === undefined ? [] : this.remove(old.object);
    if (!isFirst) return this.put(wanted.object);
    this.#add(wanted);
    return [{ before: undefined, after: wanted.object }];
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
    this.#visited += this.size;
    index.fill(this.#order.range("", LAST));
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
    for (const requirement of requirements) {
      const value = valueIn(requirement);
      if (fewest <= SMALL_SIZE) break;
      if (value === undefined) continue;
      const index = this.#labelIndex(requirement.key);
      if (index === undefined || index.count(value) >= fewest) continue;
      fewest = index.count(value);
      shortest = () => index.find(value);
    }
    return shortest?.() ?? this.#within(namespace);
  }

  #labelIndex(label: string): ObjectIndex<T> | undefined {
    const known = this.#labels.get(label);
    const isWanted = this.#labels.size < MAX_LABEL_INDEXES && !this.#building.has(label);
    if (known !== undefined || !isWanted) return known;
    const index = this.#indexed(valuesOfLabel(label));
    this.#labels.set(label, index);
    return index;
  }

  /** Builds the label's index in slices, or waits until another caller has built it. */
  *#indexLabel(label: string): YieldingWork<void> {
    while (this.#building.has(label)) yield;
    const count = this.#labels.size + this.#building.size;
    if (this.size <= SMALL_SIZE || this.#labels.has(label) || count >= MAX_LABEL_INDEXES) return;
    this.#building.add(label);
    const index = new ObjectIndex<T>(valuesOfLabel(label));
    // From now on the index sees all changes. An entry may be added to it twice.
    this.#usedIndexes.push(index);
    yield* inSlices(this.#walkEntries(), (entry) => index.add(entry));
    this.#building.delete(label);
    this.#labels.set(label, index);
  }
}

function compiled(labels: NonNullable<CacheFilter["labels"]>): LabelSelector {
  return typeof labels === "string" ? parseLabelSelector(labels) : compileLabelSelector(labels);
}

/** The value that a requirement demands of its label; undefined when several will do. */
function valueIn({ operator, values }: LabelSelector["requirements"][number]): string | undefined {
  return (operator === "=" || operator === "in") && values.length === 1 ? values[0] : undefined;
}

function valuesOfLabel(label: string): IndexFunction<ApiObject> {
  return ({ metadata: { labels } }) => {
    const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
    return value === undefined ? [] : [value];
  };
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
