import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { patternSize } from "./pattern-size.ts";

describe("the size of a pattern", () => {
  test.each([
    "a",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    "a{1000}",
    "(ab){500}",
    "((a{10}){10}){10}",
    "(a?){500}a{500}",
    "[]a]{100}[^]{}]{7}",
    "\\{1000}",
    "x{2,}",
    "(?:a|b){0,63}",
    "a{,5}",
    "\\pL{50}",
  ])("is at least half of the compiled size: %s", (source) => {
    const compiled = RE2JS.compile(source).programSize();

    expect(patternSize(source, 1e9)).toBeGreaterThanOrEqual((compiled - 2) / 2);
    expect(patternSize(source, 1e9)).toBeLessThanOrEqual(compiled * 3);
  });

  test("is not counted beyond the maximum", () => {
    expect(patternSize("a{1000}".repeat(100_000), 50_000)).toBeLessThan(60_000);
  });

  test.each(["(", ")", "[", "{", "\\", "a{", "a{1000", "(((", "[[", ""])(
    "is some number for an invalid pattern: %j",
    (source) => {
      expect(patternSize(source, 100)).toBeGreaterThanOrEqual(0);
    },
  );
});
