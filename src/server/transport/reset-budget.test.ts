import { expect, test } from "vitest";
import { ResetBudget } from "./reset-budget.ts";

test("a reset budget allows a burst, then a rate, and never saves up more than a burst", () => {
  const budget = new ResetBudget({ maxResetBurst: 2, maxResetsPerSecond: 10 }, 0);
  const takeAt = (...times: readonly number[]) => times.map((elapsedMs) => budget.take(elapsedMs));

  expect(takeAt(0, 0, 0)).toEqual([true, true, false]);
  expect(takeAt(99, 100, 100)).toEqual([false, true, false]);
  expect(takeAt(60_000, 60_000, 60_000)).toEqual([true, true, false]);
});
