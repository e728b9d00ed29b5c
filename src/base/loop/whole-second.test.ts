import { expect, test } from "vitest";
import { wholeSecondWithin } from "./whole-second.ts";

test("a period of seconds ends on a whole second, later than now and never too late", () => {
  expect(wholeSecondWithin(12_000, 1000)).toBe(13_000);
  expect(wholeSecondWithin(12_001, 1000)).toBe(13_000);
  expect(wholeSecondWithin(12_999, 1000)).toBe(13_000);
  expect(wholeSecondWithin(12_400, 2500)).toBe(14_000);
});

test("a period below a second is exact", () => {
  expect(wholeSecondWithin(12_345, 999)).toBe(13_344);
});
