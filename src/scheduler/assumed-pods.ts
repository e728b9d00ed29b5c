/**
 * Pods that the scheduler placed but the caches still show without a node. They count as placed.
 *
 * A bound pod that never appears in the caches is given up after a while. Otherwise a lost watch event would block its room for ever.
 */

import type { PodInfo } from "./snapshot/pod-info.ts";

/** Upper bound of a cache's lag; a cache beyond it is broken. */
const SHOWN_WITHIN_MS = 120_000;

interface Assumed {
  readonly pod: PodInfo;
  /** Time of the server's response to the binding; infinite before. */
  boundAt: number;
}

export class AssumedPods {
  readonly #assumed = new Map<string, Assumed>();

  add(pod: PodInfo): void {
    this.#assumed.set(pod.key, { pod, boundAt: Infinity });
  }

  has(key: string, uid: string): boolean {
    return this.#assumed.get(key)?.pod.uid === uid;
  }

  markBound(key: string, elapsed: number): void {
    const assumed = this.#assumed.get(key);
    if (assumed !== undefined) assumed.boundAt = elapsed;
  }

  /** Returns true if the pod was assumed. */
  remove(key: string): boolean {
    return this.#assumed.delete(key);
  }

  /** Bound pods that the caches should show by now. */
  overdue(elapsed: number): readonly PodInfo[] {
    return [...this.#assumed.values()]
      .filter(({ boundAt }) => boundAt + SHOWN_WITHIN_MS <= elapsed)
      .map(({ pod }) => pod);
  }
}
