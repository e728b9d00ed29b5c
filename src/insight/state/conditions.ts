/** Conditions of any kind of object. */
import type { ApiObject } from "../../api/api-object.ts";

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export function conditionsOf(object: ApiObject): readonly Condition[] {
  const { status } = object as { readonly status?: { readonly conditions?: readonly Condition[] } };
  const conditions = status?.conditions;
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}

export function findCondition(object: ApiObject, type: string): Condition | undefined {
  return conditionsOf(object).find((each) => each.type === type);
}

/** Milliseconds since the epoch; undefined when the condition does not tell. */
export function sinceOf(condition: Pick<Condition, "lastTransitionTime"> | undefined): number | undefined {
  const since = Date.parse(condition?.lastTransitionTime ?? "");
  return Number.isNaN(since) ? undefined : since;
}
