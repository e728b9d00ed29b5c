import { expect, test } from "vitest";
import { beatWithin } from "./beat.ts";

test("a period of seconds ends on a whole second, later than now and never too late", () => {
  expect(beatWithin(12_000, 1000)).toBe(13_000);
  expect(beatWithin(12_001, 1000)).toBe(13_000);
  expect(beatWithin(12_999, 1000)).toBe(13_000);
  expect(beatWithin(12_400, 2500)).toBe(14_000);
});

test("a period below a second is exact", () => {
  expect(beatWithin(12_345, 999)).toBe(13_344);
});
