import { expect, test } from "vitest";
import { inParallel } from "./in-parallel.ts";

test("every item is handled once, with a bound on those in flight", async () => {
  const handled: number[] = [];
  let inFlight = 0;
  let most = 0;
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await Promise.resolve();
    inFlight -= 1;
    handled.push(item);
  });
  expect(new Set(handled)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
  expect(handled).toHaveLength(7);
  expect(most).toBe(3);
});

test("after a failure no further item begins, and the first error is thrown", async () => {
  const begun: number[] = [];
  const run = inParallel([1, 2, 3, 4, 5, 6], 2, async (item) => {
    begun.push(item);
    await Promise.resolve();
    if (item === 2) throw new Error("item 2");
  });
  await expect(run).rejects.toThrow("item 2");
  expect(begun).toEqual([1, 2, 3]);
});
