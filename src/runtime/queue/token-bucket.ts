/** Token bucket: allows `burst` at once and `perSecond` in the long run. All times are elapsed times of the loop. */

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #refilledAt: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#refilledAt = nowMs;
  }

  /** Takes a token if one is available. */
  tryTake(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Takes a token, in advance if necessary. Returns the milliseconds until it is available. */
  reserve(nowMs: number): number {
    this.#refill(nowMs);
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#rate.perSecond) * 1000;
  }

  #refill(nowMs: number): void {
    const gained = ((nowMs - this.#refilledAt) / 1000) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + Math.max(0, gained));
    this.#refilledAt = Math.max(this.#refilledAt, nowMs);
  }
}
