import { describe, expect, test } from "vitest";
import { isNumber, orderOfVersions } from "./resource-version.ts";

describe("orderOfVersions", () => {
  test.each([
    ["9", "10", "older"],
    ["10", "9", "newer"],
    ["10", "10", "same"],
    ["18446744073709551614", "18446744073709551615", "older"],
    ["a", "a", "same"],
    ["a", "b", "unknown"],
    ["a", "1", "unknown"],
    ["", "1", "unknown"],
    ["01", "1", "unknown"],
    ["-1", "1", "unknown"],
  ])("%s compared with %s is %s", (left, right, order) => {
    expect(orderOfVersions(left, right)).toBe(order);
  });
});

describe("isNumber", () => {
  test("accepts decimal numbers without sign and leading zeros", () => {
    expect(["0", "7", "120"].every(isNumber)).toBe(true);
    expect(["", "007", "+1", "1.0", "1e3", " 1"].some(isNumber)).toBe(false);
  });
});
