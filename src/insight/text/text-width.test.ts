import { describe, expect, test } from "vitest";
import { fitText, oneLine, padText, textWidth, wrapLines } from "./text-width.ts";

describe("text", () => {
  test.each([
    ["abc", 3],
    ["世界", 4],
    ["e\u0301", 1],
    ["😀", 2],
    ["●◔↻", 3],
  ])("%s takes %i columns", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test.each([
    ["abcdef", 4, "abc…"],
    ["abcd", 4, "abcd"],
    ["世界世界", 4, "世…"],
    ["a\nb\u001B[2J", 10, "a b [2J"],
    ["abc", 0, ""],
  ])("%j fits into %i columns as %j", (text, columns, fitting) => {
    expect(fitText(text, columns)).toBe(fitting);
  });

  test("is broken at spaces, and indented behind a break", () => {
    expect(wrapLines(["  one two three four", "short", "x".repeat(13)], 12)).toEqual([
      "  one two",
      "    three",
      "    four",
      "short",
      "x".repeat(11),
      "  xx",
    ]);
  });

  test("of a log line cannot control the terminal", () => {
    expect(oneLine("a\u001B]0;title\u0007b\r\nc")).toBe("a ]0;title b  c");
  });

  test("is padded to a width", () => {
    expect([padText("a", 3), padText("世界", 3)]).toEqual(["a  ", "世…"]);
  });
});
