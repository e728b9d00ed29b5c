/** A pod in the scheduling queue. */

import type { PluginName } from "../framework/scheduler-plugin.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

/**
 * `active` is ready to be tried, `backoff` waits for a time, `unschedulable` waits for a helpful event. `gated` waits for its scheduling gates or
 * for a plugin's precondition; `inFlight` is being scheduled.
 */
export type QueuePlace = "active" | "backoff" | "unschedulable" | "gated" | "inFlight";

export interface QueuedPod {
  readonly key: string;
  pod: PodInfo;
  place: QueuePlace;
  /** Among equal priorities, the lower number goes first. */
  sequence: number;
  /** Number of failed attempts. */
  attempts: number;
  /** Start of the last and of the first attempt, in monotonic time. */
  triedAt: number;
  firstTriedAt: number | undefined;
  /** End of the last failed attempt, in monotonic time. */
  failedAt: number;
  /** Plugins that rejected or hold the pod while it is unschedulable or gated. Empty if there was no node at all. */
  rejectors: ReadonlySet<PluginName>;
  /** Changes with each move; heaps skip entries with an older stamp. */
  stamp: number;
}

const BACKOFF_BASE_MS = 1000;
const BACKOFF_MAX_MS = 10_000;

/** End of the back-off, in the time of `failedAt`. */
export function backoffEnd({ attempts, failedAt }: QueuedPod): number {
  if (attempts === 0) return failedAt;
  // Keeps the power of two finite.
  const doublings = Math.min(attempts - 1, 30);
  return failedAt + Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** doublings);
}
