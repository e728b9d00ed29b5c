/** Decides which calls are retried after a failure, and when. */
import { isApiError } from "../api/errors/api-error.ts";
import { backoffMs } from "../base/loop/backoff.ts";
import type { Loop } from "../base/loop/loop.ts";
import { addAbortListener, removeAbortListener, type AbortListener } from "./call-signal.ts";
import type { Method } from "./transport.ts";

/**
 * Retries of a client's calls. Reads are retried after transient failures, writes only after a 429 with
 * `Retry-After`.
 */
export interface RetryOptions {
  /** Upper bound of attempts, the first one included. Default: 5. */
  readonly tries?: number;
  /** Time after the first attempt in which retries may start, in milliseconds. Default: 30,000. */
  readonly totalMs?: number;
  /** Back-off before the second attempt, in milliseconds; it doubles for each further one. Default: 100. */
  readonly baseMs?: number;
  /** Upper bound of the back-off, in milliseconds, unless the server asks for more. Default: 5,000. */
  readonly maxMs?: number;
}

/** The result of a failed attempt: an error response, or none (`error`). */
export type Failure =
  | { readonly code: number; readonly retryAfterSeconds: number | undefined }
  | { readonly error: unknown };

/** Codes of a server or proxy in temporary trouble. Others, for example 501, are permanent. */
const PASSING_CODES: readonly number[] = [500, 502, 503, 504];

/**
 * Reads are retried after any transient failure. A write is retried only after a 429 with a time: then the server has
 * not accepted it. After any other response, or none, the write may have happened. (A 429 for an eviction has no
 * time.)
 */
export function mayRetry(method: Method, failure: Failure): boolean {
  const isRead = method === "GET";
  if ("error" in failure) return isRead && isBroken(failure.error);
  if (failure.code === 429) return isRead || failure.retryAfterSeconds !== undefined;
  return isRead && PASSING_CODES.includes(failure.code);
}

/** True when the connection broke, which is the cause. A closed transport has no cause and stays closed. */
function isBroken(error: unknown): boolean {
  return isApiError(error, "ServiceUnavailable") && error.cause !== undefined;
}

/** The attempts of one call, which began at the elapsed time `startedAt`. */
export class Attempts {
  readonly #options: Required<RetryOptions>;
  readonly #loop: Loop;
  readonly #startedAt: number;
  #count = 0;

  constructor(options: RetryOptions, loop: Loop, startedAt: number) {
    const { tries = 5, totalMs = 30_000, baseMs = 100, maxMs = 5000 } = options;
    this.#options = { tries, totalMs, baseMs, maxMs };
    this.#loop = loop;
    this.#startedAt = startedAt;
  }

  /** Back-off before the next attempt, at least the time that the server names; undefined when no attempt is left. */
  findWaitMs(failure: Failure): number | undefined {
    const { tries, totalMs, baseMs, maxMs } = this.#options;
    if (++this.#count >= tries) return undefined;
    const backoff = backoffMs(this.#count - 1, { baseMs, maxMs }, this.#loop.random("retry"));
    const askedMs = "code" in failure ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
    const waitMs = Math.max(backoff, askedMs);
    return this.#loop.elapsed() - this.#startedAt + waitMs > totalMs ? undefined : waitMs;
  }
}

/** Resolves after `ms`. Rejects with the signal's reason when it is aborted first. */
export function pauseUnlessAborted(loop: Loop, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const listener: AbortListener = {
      abort: (reason) => {
        timer.cancel();
        reject(reason as Error);
      },
    };
    const timer = loop.timer(loop.now() + ms, "progress", () => {
      if (signal !== undefined) removeAbortListener(signal, registration);
      resolve();
    });
    const registration = signal === undefined ? undefined : addAbortListener(signal, listener);
  });
}
