/** Conditions of a status, by the conventions of the Kubernetes API. Pure functions: a list in, a list out. */
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { timeText } from "../../api/values/time.ts";

/** A condition to be set by `withCondition`. */
export interface NewCondition {
  readonly type: string;
  /** `true` and `false` stand for `True` and `False`. */
  readonly status: boolean | "True" | "False" | "Unknown";
  /** Reason for programs: one word in CamelCase. */
  readonly reason: string;
  /** Explanation for people. Default: empty. */
  readonly message?: string;
}

/** When and for which generation a condition was found. */
export interface ConditionMoment {
  /** Time for `lastTransitionTime`, in milliseconds since the epoch. */
  readonly now: number;
  /** Generation of the object that the condition was computed from. Default: unchanged. */
  readonly observedGeneration?: number | undefined;
}

/**
 * Returns the conditions with this one set. It replaces the condition of its type, or comes last.
 * `lastTransitionTime` moves only when the status does. When nothing changes, the result is the given list itself.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: NewCondition,
  moment: ConditionMoment,
): readonly Condition[] {
  const known = conditions?.find(({ type }) => type === condition.type);
  const next = nextCondition(known, condition, moment);
  if (conditions === undefined || known === undefined) return [...(conditions ?? []), next];
  if (isSame(known, next)) return conditions;
  return conditions.map((each) => (each === known ? next : each));
}

/** Fields that the conditions of every kind have: those of a Deployment or a Pod, too. */
export interface AnyCondition {
  readonly type: string;
  readonly status: string;
}

/** The condition of a type; undefined when the list has none. */
export function findCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when the condition is present with status `True`. */
export function isTrue(conditions: readonly AnyCondition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

function nextCondition(
  known: Condition | undefined,
  { type, status: given, reason, message = "" }: NewCondition,
  { now, observedGeneration }: ConditionMoment,
): Condition {
  const status = typeof given === "string" ? given : given ? "True" : "False";
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : timeText(now);
  const generation = observedGeneration ?? known?.observedGeneration;
  return {
    type,
    status,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime,
    reason,
    message,
  };
}

function isSame(known: Condition, next: Condition): boolean {
  return (
    known.status === next.status &&
    known.reason === next.reason &&
    known.message === next.message &&
    known.observedGeneration === next.observedGeneration
  );
}
