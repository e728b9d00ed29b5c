import { describe, expect, test } from "vitest";
import { TextCache, spanOf } from "./text-cache.ts";

describe("TextCache", () => {
  test("finds a value by the bytes of its text at any offset", () => {
    const texts = new TextCache<string>();
    texts.keep(spanOf("one spec"), "first");
    texts.keep(spanOf("öne spec"), "second");
    const bytes = Buffer.from("before öne spec behind");

    expect(texts.find(spanOf("one spec"))).toBe("first");
    expect(texts.find({ bytes, start: 7, end: 16 })).toBe("second");
    expect(texts.find({ bytes, start: 7, end: 15 })).toBeUndefined();
  });

  test.each(["", "a", "abc", "abcd", "abcdefg"])(
    "distinguishes %j from a text with another last character",
    (text) => {
      const texts = new TextCache<string>();
      texts.keep(spanOf(`${text}x`), "x");

      expect(texts.find(spanOf(`${text}x`))).toBe("x");
      expect(texts.find(spanOf(`${text}y`))).toBeUndefined();
      expect(texts.find(spanOf(text))).toBeUndefined();
    },
  );

  test("tells whether a text occurred before", () => {
    const texts = new TextCache<string>();

    expect(["text a", "text b", "text a", "text b"].map((text) => texts.recurs(spanOf(text)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test("evicts a value that was not used while many others were kept", () => {
    const texts = new TextCache<number>();
    texts.keep(spanOf("used"), 1);
    texts.keep(spanOf("unused"), 2);

    for (let n = 0; n < 1000; n++) {
      texts.keep(spanOf(`other ${String(n)}`), n);
      texts.find(spanOf("used"));
    }

    expect(texts.find(spanOf("used"))).toBe(1);
    expect(texts.find(spanOf("unused"))).toBeUndefined();
  });

  test.each(["x".repeat(100_000), "ö".repeat(10_000)])("does not keep a very long text", (text) => {
    const texts = new TextCache<number>();
    texts.keep(spanOf(text), 1);

    expect(texts.find(spanOf(text))).toBeUndefined();
    expect([texts.recurs(spanOf(text)), texts.recurs(spanOf(text))]).toEqual([false, false]);
  });
});
