/** The message with which the server refused a write of the loop: in a condition, or in the newest warning. */
import { findCondition } from "../state/conditions.ts";
import type { Situation } from "./situation.ts";

/** Events about refused writes. */
const REFUSALS = new Set(["FailedCreate", "FailedDelete", "FailedUpdate", "ReplicaSetCreateError"]);

/** The facts that tell of a failure. */
export type Failed = Pick<Situation, "object" | "type" | "events">;

export interface Failure {
  readonly message: string;
  /** Number of refusals, as far as Events count them. */
  readonly count: number;
}

export function findFailure({ object, type, events }: Failed): Failure | undefined {
  const refused = events.filter(({ type, reason }) => type === "Warning" && REFUSALS.has(reason ?? ""));
  // A Deployment repeats the message of its ReplicaSet, which also knows the number of refusals.
  const condition = type.kind === "Deployment" ? undefined : findCondition(object, "ReplicaFailure");
  const isNow = condition?.status === "True";
  if (!isNow && hasReachedGoal(object)) return undefined;
  const message = isNow ? condition.message : refused[0]?.message;
  if (message === undefined) return undefined;
  const count = refused.reduce((sum, each) => sum + (each.count ?? 1), 0);
  return { message, count: Math.max(1, count) };
}

/** A warning stays for an hour after the problem is solved. */
function hasReachedGoal(object: Situation["object"]): boolean {
  const { spec, status } = object as {
    readonly spec?: { readonly replicas?: number };
    readonly status?: { readonly replicas?: number };
  };
  return spec?.replicas !== undefined && spec.replicas === (status?.replicas ?? 0);
}
