/** Builds the condition ReplicaFailure: the reason why a set has too few or too many pods. */
import { timeText } from "../../api/values/time.ts";

export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
  readonly error: unknown;
}

interface FailureCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Keeps the first failure until it is resolved. Undefined if there are no conditions at all. */
export function withReplicaFailure<C extends FailureCondition>(
  conditions: readonly C[] | undefined,
  failure: ReplicaFailure | undefined,
  now: number,
): readonly (C | FailureCondition)[] | undefined {
  const shown = conditions?.find(({ type }) => type === "ReplicaFailure");
  const others = (conditions ?? []).filter((condition) => condition !== shown);
  const next = failure === undefined ? others : [...others, shown ?? conditionOf(failure, now)];
  return next.length === 0 ? undefined : next;
}

function conditionOf({ reason, message }: ReplicaFailure, now: number): FailureCondition {
  const lastTransitionTime = timeText(now);
  return { type: "ReplicaFailure", status: "True", reason, message, lastTransitionTime };
}
