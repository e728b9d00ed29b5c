/**
 * What has to be there before anything of a pod is started: its volumes, and behind them the secrets with which its images are pulled, as kubelet has
 * it. Secrets are only looked for: that they are missing is told, and keeps nothing from being started.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { neededVolumes, pullSecretUses, type ConfigReference } from "./config-needs.ts";
import { mountFailed, pullSecretsMissing } from "./preparation-events.ts";
import { nextTryAt, stepVolumes, type ConfigLookSince, type PendingVolume } from "./volume-setup.ts";

/** What is still to be looked at. */
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
  look: ConfigLookSince,
  now: number,
): PreparationStep {
  if (isPrepared(preparation)) return { preparation, warnings: [] };
  const { pending: volumes, failures } = stepVolumes(preparation.volumes, look, now);
  const warnings = failures.map(mountFailed);
  const missing = volumes.length > 0 ? undefined : findMissing(preparation, look);
  if (missing === undefined) return { preparation: { ...preparation, volumes }, warnings };
  const words = missing.length === 0 ? [] : [pullSecretsMissing(missing)];
  return { preparation: PREPARED, warnings: [...warnings, ...words] };
}

/** When it is to be stepped again; undefined when that follows from what is being looked at. */
export function nextStepAt({ volumes }: Preparation, now: number): number | undefined {
  return nextTryAt(volumes, now);
}

/** Undefined while not all is known. */
function findMissing(
  { secrets, beganAt }: Preparation,
  look: ConfigLookSince,
): readonly ConfigReference[] | undefined {
  const states = secrets.map((reference) => look(reference, beganAt));
  return states.includes(undefined)
    ? undefined
    : secrets.filter((_, index) => states[index]?.type !== "found");
}
