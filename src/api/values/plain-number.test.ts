import { expect, test } from "vitest";
import { plainNumber } from "./plain-number.ts";

test.each<readonly [number | bigint, number]>([
  [30, 30],
  [-1, -1],
  [2n ** 53n, Number.MAX_SAFE_INTEGER],
  [2n ** 63n - 1n, Number.MAX_SAFE_INTEGER],
  [-(2n ** 63n), Number.MIN_SAFE_INTEGER],
])("%s becomes the number %s", (value, expected) => {
  expect(plainNumber(value)).toBe(expected);
});
