/**
 * Changes that a write makes together with its object, in one transaction: for example a Service and its addresses.
 * Neither is ever stored without the other, whatever fails and however many servers write.
 */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Change, Compare } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";

/** The change of an object. `previous` is undefined for a create, `next` for a delete. */
export interface ObjectChange<T extends ApiObject = ApiObject> {
  readonly previous: T | undefined;
  readonly next: T | undefined;
}

export interface CompanionPlan {
  /** Stored instead of `next`: the same object with its allocations. */
  readonly object: ApiObject | undefined;
  /** Conditions beside the object's own. If one fails, the writer makes a new plan. */
  readonly compare: readonly Compare[];
  readonly changes: readonly Change[];
}

/**
 * Plans the changes for a write; throws an ApiError to refuse it. The writer calls it synchronously before the write,
 * and again after a failed condition. It must not keep state: a dry run discards its plan.
 */
export type Companion = (change: ObjectChange, resource: StoredResource) => CompanionPlan;

export interface Companions {
  /** The companion of a resource; undefined if its objects are written alone. */
  of(resource: StoredResource): Companion | undefined;
}
