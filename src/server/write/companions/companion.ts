/**
 * What is written together with an object, in the same transaction: a Service and the addresses that are its own. So
 * there is never one without the other, whatever fails and however many servers write.
 */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Change, Compare } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";

/** From one state of an object to the next: created when `previous` is undefined, removed when `next` is. */
export interface ObjectChange<T extends ApiObject = ApiObject> {
  readonly previous: T | undefined;
  readonly next: T | undefined;
}

export interface CompanionPlan {
  /** What is stored instead of `next`: the same with what was allocated for it. */
  readonly object: ApiObject | undefined;
  /** Must hold beside the object's own condition, else the plan is made anew. */
  readonly compare: readonly Compare[];
  readonly changes: readonly Change[];
}

/**
 * Called without an await before the write, on what is accepted; again when a condition failed. Throws an ApiError to
 * refuse. Must not keep anything: a dry run makes a plan that is never carried out.
 */
export type Companion = (change: ObjectChange, resource: StoredResource) => CompanionPlan;

/** By the storage prefix of the resource, which its versions share. */
export type Companions = Pick<ReadonlyMap<string, Companion>, "get">;
