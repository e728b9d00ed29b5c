/** Observed state of a Deployment: the ReplicaSet of its current template, older ones, and the bounds of a rollout. */
import type { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { scaledValue } from "../../resources/rules/int-or-percent.ts";

/** Label that separates the pods of different templates. */
export const TEMPLATE_HASH = "pod-template-hash";

export interface Rollout {
  /** Undefined until the current template has a set. */
  readonly newSet: ReplicaSet | undefined;
  /** Oldest first. */
  readonly oldSets: readonly ReplicaSet[];
}

export function rolloutOf({ spec }: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const byAge = sets.toSorted(compareAge);
  // Sets of the same template can exist twice if the hash algorithm changed; the older one wins.
  const newSet = byAge.find((set) => matchesTemplate(set, spec.template));
  return { newSet, oldSets: byAge.filter((set) => set !== newSet) };
}

export function allSets({ newSet, oldSets }: Rollout): readonly ReplicaSet[] {
  return newSet === undefined ? oldSets : [...oldSets, newSet];
}

export function matchesTemplate({ spec }: ReplicaSet, template: PodTemplateSpec): boolean {
  return jsonEqual(withoutHash(spec.template), withoutHash(template));
}

export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [TEMPLATE_HASH]: _hash, ...labels } = template.metadata.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

export function compareAge(left: ReplicaSet, right: ReplicaSet): number {
  return (
    Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp) ||
    (left.metadata.name < right.metadata.name ? -1 : 1)
  );
}

export function wantedOf({ spec }: Pick<Deployment | ReplicaSet, "spec">): number {
  return spec.replicas ?? 1;
}

export function availableOf({ status }: ReplicaSet): number {
  return status.availableReplicas ?? 0;
}

export function totalOf(sets: readonly ReplicaSet[], numberOf: (set: ReplicaSet) => number): number {
  let total = 0;
  for (const set of sets) total += numberOf(set);
  return total;
}

export function isActiveSet(set: ReplicaSet): boolean {
  return wantedOf(set) > 0;
}

/** Number of extra pods allowed; zero for strategy Recreate. */
export function maxSurge({ spec }: Deployment): number {
  if (spec.strategy.type === "Recreate") return 0;
  return scaledValue(spec.strategy.rollingUpdate?.maxSurge, wantedOf({ spec }), "up");
}

/** Number of pods that may be missing. At least one if maxSurge rounds to zero too: otherwise the rollout could not start. */
export function maxUnavailable(deployment: Deployment): number {
  const { spec } = deployment;
  const replicas = wantedOf({ spec });
  if (spec.strategy.type === "Recreate" || replicas === 0) return 0;
  const allowed = scaledValue(spec.strategy.rollingUpdate?.maxUnavailable, replicas, "down");
  const atLeast = allowed === 0 && maxSurge(deployment) === 0 ? 1 : allowed;
  return Math.min(atLeast, replicas);
}
