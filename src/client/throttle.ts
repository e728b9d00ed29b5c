/** Limits the request rate of a client with a token bucket. */
import { tooManyRequests } from "../api/errors/api-error.ts";
import { LinkedList } from "../base/loop/linked-list.ts";
import type { Loop, Timer } from "../base/loop/loop.ts";
import { addAbortListener, removeAbortListener } from "./call-signal.ts";

/** Limits of a client's request rate. */
export interface ThrottleOptions {
  /** Calls per second in the long run. */
  readonly qps: number;
  /** Calls that may start at once after a pause. */
  readonly burst: number;
}

/** Upper bound of waiting calls. A caller with more has no bound of its own. */
const WAITING_MAX = 10_000;

/** Starts calls in the order in which they arrived. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #loop: Loop;
  /** Callbacks that start the waiting calls. */
  readonly #waiting = new LinkedList<() => void>();
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

  /** Resolves when the call may start; undefined when it may start now. */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    this.#fill();
    if (this.#waiting.length === 0 && this.#tokens >= 1) {
      this.#tokens--;
      return undefined;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      const message = `more than ${WAITING_MAX} calls of this client wait for the throttle`;
      return Promise.reject(tooManyRequests(message, 1));
    }
    return this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const place = this.#waiting.add(() => {
        if (signal !== undefined) removeAbortListener(signal, registration);
        resolve();
      });
      this.#wakeLater();
      const abort = (reason: unknown): void => {
        this.#waiting.remove(place);
        this.#wakeLater();
        reject(reason as Error);
      };
      const registration = signal === undefined ? undefined : addAbortListener(signal, { abort });
    });
  }

  #fill(): void {
    const now = this.#loop.elapsed();
    const { qps, burst } = this.#options;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * qps);
    this.#filledAt = now;
  }

  /** Keeps one timer while calls wait. */
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
