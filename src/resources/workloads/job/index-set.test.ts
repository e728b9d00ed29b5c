import { describe, expect, test } from "vitest";
import {
  countIndexes,
  countOverlap,
  findOverlap,
  firstMissing,
  formatIndexes,
  hasIndex,
  parseIndexes,
  readKnownIndexes,
  withIndexes,
} from "./index-set.ts";

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
  ])("%s and %s overlap at %s", (left, right, index) => {
    expect(findOverlap(parseIndexes(left, 10), parseIndexes(right, 10))).toBe(index);
  });
});

describe("known indexes", () => {
  test.each([
    ["0,1,2", 5, "0-2"],
    ["0-3,5", 3, "0-2"],
    ["4-6", 3, ""],
    ["x,1,3-", 5, "1"],
    ["0,1", 5, "0,1"],
  ])("of %s below %i are %s", (text, completions, expected) => {
    expect(formatIndexes(readKnownIndexes(text, completions))).toBe(expected);
  });

  test("merge with added indexes", () => {
    expect(formatIndexes(withIndexes(readKnownIndexes("1,5-6", 10), [3, 2, 7]))).toBe("1-3,5-7");
  });

  test("return missing indexes, the lowest first", () => {
    const known = readKnownIndexes("0,2-3", 10);

    expect(firstMissing(known, { count: 3, completions: 10 })).toEqual([1, 4, 5]);
    expect(firstMissing(known, { count: 9, completions: 5 })).toEqual([1, 4]);
  });

  test("return membership and the size of an overlap", () => {
    const known = readKnownIndexes("0,2-5", 10);

    expect([hasIndex(known, 1), hasIndex(known, 4)]).toEqual([false, true]);
    expect(countOverlap(known, readKnownIndexes("0-3", 10))).toBe(3);
  });
});
