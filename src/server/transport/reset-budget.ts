/**
 * How many requests an HTTP/2 client may take back before they were answered. Taking back costs the client nothing and
 * us a request each time (CVE-2023-44487), and streams that are reset do not count as concurrent.
 *
 * Example: with a burst of 200 and 20 a second, a client that took back 200 may take back one more after 50 ms.
 */
import type { TransportLimits } from "./limits.ts";

export class ResetBudget {
  readonly #limits: Pick<TransportLimits, "maxResetBurst" | "maxResetsPerSecond">;
  #left: number;
  #lookedAt: number;

  constructor(limits: Pick<TransportLimits, "maxResetBurst" | "maxResetsPerSecond">, elapsedMs: number) {
    this.#limits = limits;
    this.#left = limits.maxResetBurst;
    this.#lookedAt = elapsedMs;
  }

  /** False when the budget is used up. */
  take(elapsedMs: number): boolean {
    const { maxResetBurst, maxResetsPerSecond } = this.#limits;
    const earned = ((elapsedMs - this.#lookedAt) / 1000) * maxResetsPerSecond;
    this.#lookedAt = elapsedMs;
    this.#left = Math.min(maxResetBurst, this.#left + earned);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
