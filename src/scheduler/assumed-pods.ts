/**
 * Pods that the scheduler has put on a node while the caches still show them without one. They count as placed. One whose binding was
 * answered but never shown is given up after a while, so that a lost answer cannot hold room for ever.
 */

import type { PodInfo } from "./snapshot/pod-info.ts";

/** A cache that is this far behind is broken. */
const SHOWN_WITHIN_MS = 120_000;

interface Assumed {
  readonly pod: PodInfo;
  /** When the server answered; infinite before. */
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

  /** Answers whether it was assumed. */
  remove(key: string): boolean {
    return this.#assumed.delete(key);
  }

  /** Those that should have been shown by now. */
  overdue(elapsed: number): readonly PodInfo[] {
    return [...this.#assumed.values()]
      .filter(({ boundAt }) => boundAt + SHOWN_WITHIN_MS <= elapsed)
      .map(({ pod }) => pod);
  }
}
