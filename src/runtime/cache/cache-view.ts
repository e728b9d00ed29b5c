/** What loops read: the newest state that the watch of a kind has brought, always in memory, never waiting. */
import type { ApiObject, ObjectKey } from "../../api/api-object.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";

export interface CacheFilter {
  readonly namespace?: string;
  readonly labels?: LabelSelector;
}

/**
 * Objects are shared and deeply readonly. Lists are in order of namespace and name, so that the same state gives the same list. What
 * is read in one step of the loop belongs together: a cache changes only between steps.
 */
export interface CacheView<T extends ApiObject> {
  find(key: ObjectKey): T | undefined;
  list(filter?: CacheFilter): readonly T[];
  /** Those whose controlling owner is this very object (by uid). */
  ownedBy(owner: ApiObject): readonly T[];
  /** Those of a namespace that no object controls; of kinds without namespaces, those of "". */
  uncontrolled(namespace: string): readonly T[];
  /** Those with any owner reference to this uid. */
  dependentsOf(uid: string): readonly T[];
  /** By a user-defined index (`ControllerDefinition.indexes`). */
  indexed(index: string, value: string): readonly T[];
  readonly size: number;
}

/** Under which values an object is found; for instance the node a pod runs on. */
export type IndexFunction<T extends ApiObject> = (object: T) => readonly string[];
