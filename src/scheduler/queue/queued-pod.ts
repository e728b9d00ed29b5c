/** A pod on its way to a node. */

import type { PluginName } from "../framework/plugin.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";

/**
 * Where it is: `active` waits for its turn, `backoff` for a time, `parked` for a change of the cluster that can help, `gated` for its gates
 * to be taken away, or for what a plugin must have before it is worth a try; `busy` is being put on a node.
 */
export type QueuePlace = "active" | "backoff" | "parked" | "gated" | "busy";

export interface QueuedPod {
  readonly key: string;
  pod: PodInfo;
  place: QueuePlace;
  /** Of equal priority, the lower goes first. */
  sequence: number;
  /** How often it was tried and did not get a node. */
  attempts: number;
  /** When it was taken to be tried, last and first; by a clock that only goes on. */
  triedAt: number;
  firstTriedAt: number | undefined;
  /** When it was last found to fit nowhere, or failed to be bound; by the same clock. */
  failedAt: number;
  /** While parked, or held back by plugins: those whose minds must change. None means that there was no node at all. */
  rejectors: ReadonlySet<PluginName>;
  /** New with each move; heaps skip what was moved since. */
  stamp: number;
}

const BACKOFF_BASE_MS = 1000;
const BACKOFF_MAX_MS = 10_000;

/** When it may be tried again, by the clock of `failedAt`. */
export function backoffEnd({ attempts, failedAt }: QueuedPod): number {
  if (attempts === 0) return failedAt;
  // More doublings than this would not be a number any more.
  const doublings = Math.min(attempts - 1, 30);
  return failedAt + Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** doublings);
}
