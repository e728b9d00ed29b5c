/**
 * The preparation of a pod before its first container: first its volumes, then its pull secrets, as in the
 * kubelet. A missing pull secret only causes an Event.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { neededVolumes, pullSecretUses, type ConfigReference } from "./config-needs.ts";
import { mountFailed, pullSecretsMissing } from "./preparation-events.ts";
import { nextTryAt, stepVolumes, type FindConfigSince, type PendingVolume } from "./volume-setup.ts";

/** Volumes and secrets that are still unchecked. */
export interface Preparation {
  readonly beganAt: number;
  readonly volumes: readonly PendingVolume[];
  readonly secrets: readonly ConfigReference[];
}

export interface PreparationStep {
  readonly preparation: Preparation;
  readonly warnings: readonly Pick<RecordedEvent, "reason" | "message">[];
}

export const PREPARED: Preparation = { beganAt: 0, volumes: [], secrets: [] };

export function beginPreparation(pod: Pod, now: number): Preparation {
  const volumes = neededVolumes(pod).map((volume) => ({ ...volume, tryAt: now, failures: 0 }));
  return { beganAt: now, volumes, secrets: pullSecretUses(pod) };
}

export function isPrepared({ volumes, secrets }: Preparation): boolean {
  return volumes.length === 0 && secrets.length === 0;
}

export function stepPreparation(
  preparation: Preparation,
  findConfig: FindConfigSince,
  now: number,
): PreparationStep {
  if (isPrepared(preparation)) return { preparation, warnings: [] };
  const { pending: volumes, failures } = stepVolumes(preparation.volumes, findConfig, now);
  const warnings = failures.map(mountFailed);
  const missing = volumes.length > 0 ? undefined : findMissing(preparation, findConfig);
  if (missing === undefined) return { preparation: { ...preparation, volumes }, warnings };
  const words = missing.length === 0 ? [] : [pullSecretsMissing(missing)];
  return { preparation: PREPARED, warnings: [...warnings, ...words] };
}

/** Time of the next step; undefined when the result of a read triggers it. */
export function nextStepAt({ volumes }: Preparation, now: number): number | undefined {
  return nextTryAt(volumes, now);
}

/** Undefined while a secret is unknown. */
function findMissing(
  { secrets, beganAt }: Preparation,
  findConfig: FindConfigSince,
): readonly ConfigReference[] | undefined {
  const states = secrets.map((reference) => findConfig(reference, beganAt));
  return states.includes(undefined)
    ? undefined
    : secrets.filter((_, index) => states[index]?.type !== "found");
}
