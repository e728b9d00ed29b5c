/**
 * Changes that a write makes together with its object, in one transaction: for example a Service and its addresses.
 * Neither is ever stored without the other, whatever fails and however many servers write.
 */
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Change, Compare } from "../../../store/store.ts";
import { isCustom } from "../../objects/registry.ts";
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

/** The plan of a write that changes nothing beside its object. */
export const NOTHING_BESIDE: CompanionPlan = { object: undefined, compare: [], changes: [] };

/** A write to plan for, with the plan of the companions before. Their result is `change.next`. */
export interface PlannedWrite {
  readonly change: ObjectChange;
  readonly resource: StoredResource;
  /** Number of changes that the companions before have planned. */
  readonly planned: number;
}

export interface Companion {
  /** Kinds whose writes concern the companion; one kind is named by its storage prefix, which all its versions share. */
  readonly kinds: "every kind" | "custom kinds" | { readonly prefix: string };
  /**
   * Plans the changes for a write; throws an ApiError to refuse it. The writer calls it synchronously before the write,
   * and again after a failed condition. It must not keep state: a dry run discards its plan.
   */
  plan(write: PlannedWrite): CompanionPlan;
}

/** Asks the companions in order. Each sees the object as those before it left it. */
export function planBeside(
  companions: readonly Companion[],
  { previous, next }: ObjectChange,
  resource: StoredResource,
): CompanionPlan {
  let plan = NOTHING_BESIDE;
  for (const companion of companions) {
    if (!isConcerned(companion, resource)) continue;
    const change = { previous, next: plan.object ?? next };
    plan = joined(plan, companion.plan({ change, resource, planned: plan.changes.length }));
  }
  return plan;
}

function isConcerned({ kinds }: Companion, resource: StoredResource): boolean {
  if (kinds === "every kind") return true;
  return kinds === "custom kinds" ? isCustom(resource) : resource.storage.prefix === kinds.prefix;
}

function joined(first: CompanionPlan, second: CompanionPlan): CompanionPlan {
  if (first === NOTHING_BESIDE) return second;
  if (second === NOTHING_BESIDE) return first;
  return {
    object: second.object ?? first.object,
    compare: [...first.compare, ...second.compare],
    changes: [...first.changes, ...second.changes],
  };
}
