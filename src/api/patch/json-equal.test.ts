import { expect, test } from "vitest";
import { jsonEqual } from "./json-equal.ts";

test.each<readonly [unknown, unknown]>([
  [1, 1n],
  [{ a: [1n, 2] }, { a: [1, 2n] }],
  // A double that is written as an integer and read back as a bigint.
  [9_223_372_036_854_775_000, 9_223_372_036_854_775_000n],
  [2 ** 60, 1_152_921_504_606_847_000n],
  [9_007_199_254_740_993n, 9_007_199_254_740_993n],
])("values %# are equal", (left, right) => {
  expect(jsonEqual(left, right)).toBe(true);
  expect(jsonEqual(right, left)).toBe(true);
});

test.each<readonly [unknown, unknown]>([
  [1, 2n],
  [9_007_199_254_740_993n, 9_007_199_254_740_992n],
  [1, "1"],
  [0, null],
  [[1], { 0: 1 }],
  [{ a: 1 }, { a: 1, b: undefined }],
])("values %# are not equal", (left, right) => {
  expect(jsonEqual(left, right)).toBe(false);
});
