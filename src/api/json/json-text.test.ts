import { describe, expect, it } from "vitest";
import { stringifyAsGo, stringifyJson } from "./json-text.ts";

describe("JSON text", () => {
  it("writes integers beyond 2^53 exactly", () => {
    expect(stringifyJson({ n: [9_007_199_254_740_993n] })).toBe('{"n":[9007199254740993]}');
  });

  it("stringifyAsGo writes an absent value as null", () => {
    expect(stringifyAsGo(undefined)).toBe("null");
  });

  it("stringifyAsGo escapes the characters that Go's encoder escapes", () => {
    expect(stringifyAsGo({ args: ["a && b <c>", "\u2028\u2029"] })).toBe(
      String.raw`{"args":["a \u0026\u0026 b \u003cc\u003e","\u2028\u2029"]}`,
    );
  });
});
