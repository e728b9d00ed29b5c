/** Conditions of a status, as the API's conventions want them. Pure: a list comes in, a list goes out. */
import type { Condition } from "../../api/generated/types/meta-v1.ts";
import { formatTime } from "../../api/values/time.ts";

export interface NewCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word in CamelCase for programs. */
  readonly reason: string;
  readonly message?: string;
}

export interface ConditionMoment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Of the object on which the condition was found to hold. */
  readonly observedGeneration?: number | undefined;
}

/**
 * The conditions with this one in place of the one of its type, or at the end. `lastTransitionTime` moves only when the status does. When
 * nothing changes, the very list that was given comes back.
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

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The named condition is there and says so. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

function nextCondition(
  known: Condition | undefined,
  { type, status, reason, message = "" }: NewCondition,
  { now, observedGeneration }: ConditionMoment,
): Condition {
  const lastTransitionTime =
    known?.status === status ? known.lastTransitionTime : formatTime(BigInt(Math.floor(now)) * 1000n);
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
