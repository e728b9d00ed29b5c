/** Sets up the volumes of a pod that use ConfigMaps and Secrets. Each volume is retried on its own. */
import { checkVolume, type ConfigReference, type ConfigState, type NeededVolume } from "./config-needs.ts";

export interface PendingVolume extends NeededVolume {
  /** Time of the next try, which ignores earlier results. */
  readonly tryAt: number;
  readonly failures: number;
}

export interface VolumeFailure {
  readonly volume: string;
  readonly message: string;
}

export interface VolumeStep {
  readonly pending: readonly PendingVolume[];
  readonly failures: readonly VolumeFailure[];
}

/** The state at `since` or later; undefined while it is unknown. */
export type FindConfigSince = (reference: ConfigReference, since: number) => ConfigState | undefined;

/** The kubelet's back-off: half a second, doubled each time, at most two minutes and two seconds. */
const FIRST_MS = 500;
const LONGEST_MS = 122_000;

export function stepVolumes(
  pending: readonly PendingVolume[],
  findConfig: FindConfigSince,
  now: number,
): VolumeStep {
  const failures: VolumeFailure[] = [];
  const left = pending.flatMap((volume): readonly PendingVolume[] => {
    if (volume.tryAt > now) return [volume];
    const finding = checkVolume(volume, (reference) => findConfig(reference, volume.tryAt));
    if (finding.type === "open") return [volume];
    if (finding.type === "fine") return [];
    failures.push({ volume: volume.name, message: finding.message });
    const delayMs = Math.min(FIRST_MS * 2 ** volume.failures, LONGEST_MS);
    return [{ ...volume, tryAt: now + delayMs, failures: volume.failures + 1 }];
  });
  return { pending: left, failures };
}

/** Time of the next retry; undefined when no volume waits for one. */
export function nextTryAt(pending: readonly PendingVolume[], now: number): number | undefined {
  const times = pending.map(({ tryAt }) => tryAt).filter((at) => at > now);
  return times.length === 0 ? undefined : Math.min(...times);
}
