import { expect, test } from "vitest";
import { RateBudget } from "./rate-budget.ts";

test("a budget allows a burst, then a rate, and never saves up more than a burst", () => {
  const budget = new RateBudget({ burst: 2, perSecond: 10 }, 0);
  const takeAt = (...times: readonly number[]) => times.map((elapsedMs) => budget.take(elapsedMs));

  expect(takeAt(0, 0, 0)).toEqual([true, true, false]);
  expect(takeAt(99, 100, 100)).toEqual([false, true, false]);
  expect(takeAt(60_000, 60_000, 60_000)).toEqual([true, true, false]);
});
