/**
 * What a cache holds, and all ways to find it. Lists that are handed out never change: a change makes new ones, and only of what it
 * touches. An update costs logarithmic time, for each index that is in use.
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
import type { Held } from "./object-index.ts";

/** Labels by which objects were asked for get an index. No more than these few, since each costs memory. */
const MAX_LABEL_INDEXES = 4;
/** So few are looked through faster than an index is made. */
const SMALL_SIZE = 64;

export class CacheContent<T extends ApiObject> implements CacheView<T> {
  #order = SortedMap.empty<Held<T>>();
  /** Of the whole and of single namespaces, made when asked for. */
  #all: readonly T[] | undefined;
  readonly #lists = new Map<string, readonly T[]>();
  /** Made when first asked for. */
  #owners: ObjectIndex<T> | undefined;
  #controllers: ObjectIndex<T> | undefined;
  readonly #labels = new Map<string, ObjectIndex<T>>();
  readonly #indexes = new Map<string, NamedIndex<T>>();
  /** All of the above. */
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
    return this.#byController(NOBODY + namespace);
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

  /** A name means one function. One that fails for an object gives no values for it. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(name);
    if (known !== undefined && known.valuesOf !== valuesOf)
      throw new Error(`there is another index "${name}" already`);
    if (known !== undefined) return;
    const index = this.#indexed((object) => this.#valuesOf(name, valuesOf, object));
    this.#indexes.set(name, { valuesOf, index });
  }

  /** Nothing happens for a state that is already here. An object of the same name with another uid is another object. */
  put(object: T): readonly ObjectChange<T>[] {
    const key = keyOfObject(object);
    const held = this.#order.get(key);
    if (held !== undefined) return isSameState(held.object, object) ? [] : this.#replace(held, object);
    const added = { key, object };
    this.#order = this.#order.set(added);
    this.#add(added);
    return [{ before: undefined, after: object }];
  }

  /** Nothing happens for an object that is not here any more. */
  remove(object: T): readonly ObjectChange<T>[] {
    const key = keyOfObject(object);
    const held = this.#order.get(key);
    if (held === undefined || !isSameObject(held.object, object)) return [];
    this.#order = this.#order.delete(key);
    return this.#remove(held);
  }

  /** Makes the content be exactly these. The changes that lead there are told in order of namespace and name. */
  replace(objects: readonly T[]): readonly ObjectChange<T>[] {
    const { order, differences } = merge(this.#order, sorted(objects));
    this.#order = order;
    return differences.flatMap(({ held, after }) => {
      if (after === undefined) return this.#remove(held);
      if (after !== held.object) return this.#replace(held, after);
      this.#add(held);
      return [{ before: undefined, after }];
    });
  }

  #add(held: Held<T>): void {
    this.#outdate(held);
    for (const index of this.#usedIndexes) index.add(held);
  }

  #remove(held: Held<T>): readonly ObjectChange<T>[] {
    this.#outdate(held);
    for (const index of this.#usedIndexes) index.remove(held);
    return [{ before: held.object, after: undefined }];
  }

  /** One object gone and another of its name come are two changes. */
  #replace(held: Held<T>, after: T): readonly ObjectChange<T>[] {
    const before = held.object;
    held.object = after;
    this.#outdate(held);
    for (const index of this.#usedIndexes) index.replace(before, held);
    if (isSameObject(before, after)) return [{ before, after }];
    return [
      { before, after: undefined },
      { before: undefined, after },
    ];
  }

  /** Lists that were handed out stay as they are, but are handed out no more. */
  #outdate({ key }: Held<T>): void {
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
    for (const held of this.#order.range("", "\uffff")) index.add(held);
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

  /** The shortest list at hand that has all objects of the namespace that the selector can match. */
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

/** Before the namespace of objects that nobody controls. No uid begins with it. */
const NOBODY = "\0";

function controllerValue(object: ApiObject): readonly string[] {
  return [controllerOf(object)?.uid ?? NOBODY + (object.metadata.namespace ?? "")];
}

function isSameObject(left: ApiObject, right: ApiObject): boolean {
  return left.metadata.uid === right.metadata.uid;
}

function isSameState(left: ApiObject, right: ApiObject): boolean {
  return isSameObject(left, right) && left.metadata.resourceVersion === right.metadata.resourceVersion;
}

/** By key; of several with one key the last. */
function sorted<T extends ApiObject>(objects: readonly T[]): readonly Held<T>[] {
  const held = objects.map((object) => ({ key: keyOfObject(object), object }));
  held.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return held.filter(({ key }, index) => held[index + 1]?.key !== key);
}

interface Difference<T extends ApiObject> {
  /** The place, as it was before; a new one has its object already. */
  readonly held: Held<T>;
  /** What comes into it; undefined when nothing does. */
  readonly after: T | undefined;
}

/** Walks both in order. What is here already keeps its place. */
function merge<T extends ApiObject>(
  old: SortedMap<Held<T>>,
  incoming: readonly Held<T>[],
): { readonly order: SortedMap<Held<T>>; readonly differences: readonly Difference<T>[] } {
  const differences: Difference<T>[] = [];
  const result: Held<T>[] = [];
  const rest = old.range("", "\uffff");
  let before = rest.next();
  for (const fresh of incoming) {
    for (; before.done !== true && before.value.key < fresh.key; before = rest.next())
      differences.push({ held: before.value, after: undefined });
    const known = before.done !== true && before.value.key === fresh.key ? before.value : undefined;
    if (known !== undefined) before = rest.next();
    const held = known ?? fresh;
    if (known === undefined || !isSameState(known.object, fresh.object))
      differences.push({ held, after: fresh.object });
    result.push(held);
  }
  for (; before.done !== true; before = rest.next())
    differences.push({ held: before.value, after: undefined });
  return { order: SortedMap.fromSorted(result), differences };
}
