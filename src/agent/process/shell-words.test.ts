import { describe, expect, test } from "vitest";
import { quoteWord, splitWords } from "./shell-words.ts";

describe("splitWords", () => {
  test.each([
    ["", []],
    ["  one  two ", ["one", "two"]],
    ["/usr/sbin/nginx -g 'daemon off;'", ["/usr/sbin/nginx", "-g", "daemon off;"]],
    [String.raw`a\ b "c \"d\" \e" ''`, ["a b", String.raw`c "d" \e`, ""]],
    ["one'two'\"three\"", ["onetwothree"]],
  ])("reads %j", (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test.each(["'open", '"open', String.raw`end\ `.slice(0, -1)])("refuses %j", (line) => {
    expect(splitWords(line)).toBeUndefined();
  });

  test.each(["plain", "two words", "it's", "$HOME", "", "a;b", "\n"])("reads the quoted %j back", (word) => {
    expect(splitWords(quoteWord(word))).toEqual([word]);
  });
});
