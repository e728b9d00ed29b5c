import { expect, test } from "vitest";
import { inSlices, SLICE_ITEMS } from "./in-slices.ts";

test("a walk handles all items in order and yields after each slice but the last", () => {
  const items = Array.from({ length: 2 * SLICE_ITEMS }, (_, at) => at);
  const handled: number[] = [];
  const walk = inSlices(items, (item) => handled.push(item));

  const step = (): unknown => [walk.next().done, handled.length];

  expect([step(), step()]).toEqual([
    [false, SLICE_ITEMS],
    [true, 2 * SLICE_ITEMS],
  ]);
  expect(handled).toEqual(items);
});

test("a walk of few items does not yield", () => {
  expect(inSlices([1, 2, 3], () => undefined).next().done).toBe(true);
});
