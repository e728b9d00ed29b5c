/**
 * The read-only view of a cache: the newest state that the watch of a kind has delivered. Reads are from memory and
 * never wait.
 */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";

/** Restricts `CacheView.list`. Default: all objects. */
export interface CacheFilter {
  /** Namespace of the objects. */
  readonly namespace?: string;
  /** Label selector that the objects match: an object, or a query such as `app=web,tier!=db`. */
  readonly labels?: LabelSelector | string;
}

/**
 * A read-only view of the cached objects of a kind.
 *
 * Objects are shared and deeply readonly. Lists are in order of namespace and name, so that the same state gives the
 * same list. The cache changes only between steps of the event loop: reads within one step are consistent.
 */
export interface CacheView<T extends ApiObject> {
  /** The object of that key; undefined when it is not cached. */
  find(key: ObjectKey): T | undefined;
  /** All objects that match the filter. */
  list(filter?: CacheFilter): readonly T[];
  /**
   * Like `list`, but visits many objects in slices: run it with `ReconcileContext.inTurns`. Prefer it for queries by
   * labels, whose first one visits all objects to index them.
   */
  select(filter: CacheFilter): Generator<void, readonly T[]>;
  /**
   * All objects, or those of a namespace, in order, one at a time. The walk may continue in later steps: it shows the newest state of each object
   * and skips removed ones. Objects added meanwhile may be missing; a subscription reports them.
   */
  walk(namespace?: string): Iterable<T>;
  /** Objects whose controller is exactly this object (compared by uid). */
  ownedBy(owner: ApiObject): readonly T[];
  /** Objects of a namespace without a controller. Use "" for cluster-scoped kinds. */
  uncontrolled(namespace: string): readonly T[];
  /** Objects with an owner reference to this uid, controlling or not. */
  dependentsOf(uid: string): readonly T[];
  /**
   * Objects for which the index function returned `value` (see `ControllerDefinition.indexes`). Throws for an unknown
   * index.
   */
  indexed(index: string, value: string): readonly T[];
  /** The values under which an index has objects, in no particular order. */
  indexValues(index: string): Iterable<string>;
  /** Number of objects in a namespace. Takes the same time for any number. */
  countIn(namespace: string): number;
  /** Number of cached objects. */
  readonly size: number;
}

/** Returns the values under which an object is found, for example the node that a pod runs on. */
export type IndexFunction<T extends ApiObject> = (object: T) => readonly string[];
