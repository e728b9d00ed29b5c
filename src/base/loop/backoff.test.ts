import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";
import { seededRandom } from "./random.ts";

describe("backoffMs", () => {
  test("the wait doubles from the base up to the maximum without jitter", () => {
    const backoff = { baseMs: 100, maxMs: 1000, jitter: 0 };
    const waits = [0, 1, 2, 3, 4, 5].map((retry) => backoffMs(retry, backoff, seededRandom(1)));

    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  test("every wait is between its unjittered part and the maximum", () => {
    fc.assert(
      fc.property(
        fc.nat(5000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer(),
        (retry, jitter, seed) => {
          const waitMs = backoffMs(retry, { baseMs: 5, maxMs: 60_000, jitter }, seededRandom(seed));
          const longest = Math.min(60_000, 5 * 2 ** retry);
          expect(waitMs).toBeLessThanOrEqual(longest);
          expect(waitMs).toBeGreaterThanOrEqual(longest * (1 - jitter));
        },
      ),
    );
  });

  test("callers with different random streams wait for different times", () => {
    const waits = [1, 2, 3, 4].map((seed) =>
      backoffMs(3, { baseMs: 100, maxMs: 10_000 }, seededRandom(seed)),
    );

    expect(new Set(waits).size).toBe(4);
  });
});
