/** Keeps a client from asking more often than agreed: a bucket of tokens that fills at a steady rate. */
import { tooManyRequests } from "../api/errors/api-error.ts";
import { Chain } from "../base/loop/chain.ts";
import type { Loop, Timer } from "../base/loop/loop.ts";
import { follow, unfollow } from "./call-signal.ts";

export interface ThrottleOptions {
  /** Calls a second in the long run. */
  readonly qps: number;
  /** Calls at once after a rest. */
  readonly burst: number;
}

/** Of calls that wait. More than this many are a caller without any bound of its own. */
const WAITING_MAX = 10_000;

/** Calls begin in the order in which they came. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #loop: Loop;
  /** What begins them. */
  readonly #waiting = new Chain<() => void>();
  #tokens: number;
  #filledAt: number;
  #timer: Timer | undefined;

  constructor(options: ThrottleOptions, loop: Loop) {
    if (!(options.qps > 0) || !(options.burst >= 1)) {
      throw new RangeError(
        `a throttle needs qps above 0 and a burst of at least 1, found qps ${options.qps} and burst ${options.burst}`,
      );
    }
    this.#options = options;
    this.#loop = loop;
    this.#tokens = options.burst;
    this.#filledAt = loop.elapsed();
  }

  /** Resolves when it is the caller's turn; undefined when that is now. */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    this.#fill();
    if (this.#waiting.length === 0 && this.#tokens >= 1) {
      this.#tokens--;
      return undefined;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      const message = `more than ${WAITING_MAX} calls of this client wait for their turn`;
      return Promise.reject(tooManyRequests(message, 1));
    }
    return this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const place = this.#waiting.add(() => {
        if (signal !== undefined) unfollow(signal, following);
        resolve();
      });
      this.#wakeLater();
      const abort = (reason: unknown): void => {
        this.#waiting.remove(place);
        this.#wakeLater();
        reject(reason as Error);
      };
      const following = signal === undefined ? undefined : follow(signal, { abort });
    });
  }

  #fill(): void {
    const now = this.#loop.elapsed();
    const { qps, burst } = this.#options;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * qps);
    this.#filledAt = now;
  }

  /** One timer, as long as anybody waits. */
  #wakeLater(): void {
    if (this.#waiting.length === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
      return;
    }
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(1, Math.ceil(((1 - this.#tokens) / this.#options.qps) * 1000));
    this.#timer = this.#loop.timer(this.#loop.now() + waitMs, "progress", () => this.#wake());
  }

  #wake(): void {
    this.#timer = undefined;
    this.#fill();
    for (let place = this.#waiting.first; place !== undefined; place = this.#waiting.first) {
      if (this.#tokens < 1) break;
      this.#tokens--;
      this.#waiting.remove(place)?.();
    }
    this.#wakeLater();
  }
}
