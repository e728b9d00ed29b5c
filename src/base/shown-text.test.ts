import { describe, expect, test } from "vitest";
import { shownText } from "./shown-text.ts";

describe("text of others on a terminal", () => {
  test.each([
    ["a\u001B[2Jb", "a^[[2Jb"],
    ["\u001B]0;title\u0007", "^[]0;title^G"],
    ["over\rwritten", String.raw`over\rwritten`],
    ["\u009B31m\u007F", String.raw`\u009b31m^?`],
    ["abc\u202Etxt.exe", String.raw`abc\u202etxt.exe`],
    ["lines\n\tand tabs, ü and 🙂", "lines\n\tand tabs, ü and 🙂"],
  ])("has no control characters: %j", (text, shown) => {
    expect(shownText(text)).toBe(shown);
  });
});
