/** Which calls are made again after a failure, and when. */
import { isApiError } from "../api/errors/api-error.ts";
import { backoffMs } from "../base/loop/backoff.ts";
import type { Loop } from "../base/loop/loop.ts";
import { follow, unfollow, type Follower } from "./call-signal.ts";
import type { Method } from "./transport.ts";

export interface RetryOptions {
  /** How often a call is made at most, the first time included; 5 unless given. */
  readonly tries?: number;
  /** No try begins later than this after the first; 30 s unless given. */
  readonly totalMs?: number;
  /** The wait before the second try, doubled for each further one; 100 ms unless given. */
  readonly baseMs?: number;
  /** No wait is longer, unless the server asks for it; 5 s unless given. */
  readonly maxMs?: number;
}

/** What came of one try: an answer, or none (`error`). */
export type Failure =
  | { readonly code: number; readonly retryAfterSeconds: number | undefined }
  | { readonly error: unknown };

/** A server or a proxy before it that is not itself at the moment. Others, such as 501, do not pass by themselves. */
const PASSING_CODES: readonly number[] = [500, 502, 503, 504];

/**
 * Reads may be made again after any failure that passes. A write only when the server says that it took none (429) and names a time:
 * whether a write that got another answer, or none, was done is unknown. (A refused eviction is a 429 too, but one without a time.)
 */
export function mayRetry(method: Method, failure: Failure): boolean {
  const isRead = method === "GET";
  if ("error" in failure) return isRead && isBroken(failure.error);
  if (failure.code === 429) return isRead || failure.retryAfterSeconds !== undefined;
  return isRead && PASSING_CODES.includes(failure.code);
}

/** Something broke, which is the cause. A transport that was closed has none, and is not there again later. */
function isBroken(error: unknown): boolean {
  return isApiError(error, "ServiceUnavailable") && error.cause !== undefined;
}

/** The tries of one call, which began at `startedAt` (`Loop.elapsed`). */
export class Tries {
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

  /** How long to wait before the next one; undefined when there is none. A server that names a time is not asked before. */
  findWaitMs(failure: Failure): number | undefined {
    const { tries, totalMs, baseMs, maxMs } = this.#options;
    if (++this.#count >= tries) return undefined;
    const backoff = backoffMs(this.#count - 1, { baseMs, maxMs }, this.#loop.random("retry"));
    const askedMs = "code" in failure ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
    const waitMs = Math.max(backoff, askedMs);
    return this.#loop.elapsed() - this.#startedAt + waitMs > totalMs ? undefined : waitMs;
  }
}

/** Rejects with the signal's reason when that is aborted meanwhile. */
export function pause(loop: Loop, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const follower: Follower = {
      abort: (reason) => {
        timer.cancel();
        reject(reason as Error);
      },
    };
    const timer = loop.timer(loop.now() + ms, "progress", () => {
      if (signal !== undefined) unfollow(signal, following);
      resolve();
    });
    const following = signal === undefined ? undefined : follow(signal, follower);
  });
}
