import { assert } from "../assert.ts";
import type { Random } from "./loop.ts";

/** Growth of the waits between retries. */
export interface Backoff {
  /** Wait before the first retry, in milliseconds. */
  readonly baseMs: number;
  /** Upper bound of a wait, in milliseconds. */
  readonly maxMs: number;
  /** Growth from one retry to the next. Default: 2. */
  readonly factor?: number;
  /** Share of the wait that is random, so that callers that failed together do not retry together. Default: 0.5. */
  readonly jitter?: number;
}

/** Milliseconds to wait before retry number `retry`, counted from 0: between `(1 - jitter) × wait` and `wait`. */
export function backoffMs(retry: number, backoff: Backoff, random: Random): number {
  const { baseMs, maxMs, factor = 2, jitter = 0.5 } = backoff;
  assert(retry >= 0 && baseMs >= 0 && maxMs >= 0, "retries and waits are not negative");
  assert(factor >= 1 && jitter >= 0 && jitter <= 1, "a factor is at least 1, a jitter between 0 and 1");
  const waitMs = Math.min(maxMs, baseMs * factor ** retry);
  return waitMs * (1 - jitter * random.next());
}
