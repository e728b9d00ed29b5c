import { describe, expect, test } from "vitest";
import { countIndexes, findOverlap, parseIndexes } from "./index-set.ts";

describe("a set of indexes", () => {
  test.each([
    ["", 0],
    ["3", 1],
    ["0,2-4", 4],
  ])("%s has %i", (text, count) => {
    expect(countIndexes(parseIndexes(text, 10))).toBe(count);
  });

  test.each([
    ["10", 'too large index: "10"'],
    ["1-10", 'too large index: "10"'],
    ["3,3", "non-increasing order, previous: 3, current: 3"],
    ["4-2", "non-increasing order, previous: 4, current: 2"],
    [
      "1-2-3",
      "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts separated by '-'",
    ],
    ["x", 'cannot convert string to integer for index: "x"'],
  ])("%s is refused", (text, problem) => {
    expect(() => parseIndexes(text, 10)).toThrow(new SyntaxError(problem));
  });

  test.each([
    ["0-3", "3-5", 3],
    ["0,2", "1,3", undefined],
  ])("%s and %s have %s in common", (left, right, index) => {
    expect(findOverlap(parseIndexes(left, 10), parseIndexes(right, 10))).toBe(index);
  });
});
