/**
 * A budget that refills at a constant rate up to a burst.
 *
 * Example: with a burst of 200 and 20 a second, after 200 takes the next one succeeds 50 ms later.
 */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export class RateBudget {
  readonly #rate: Rate;
  #left: number;
  #lookedAt: number;

  constructor(rate: Rate, elapsedMs: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#lookedAt = elapsedMs;
  }

  /** False when the budget is used up. */
  take(elapsedMs: number): boolean {
    const { burst, perSecond } = this.#rate;
    const earned = ((elapsedMs - this.#lookedAt) / 1000) * perSecond;
    this.#lookedAt = elapsedMs;
    this.#left = Math.min(burst, this.#left + earned);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
