import { describe, expect, test } from "vitest";
import { copyAsJson } from "./json-copy.ts";

describe("copyAsJson", () => {
  test("copies a value as a JSON round trip does, and shares no objects", () => {
    const value = { a: undefined, b: [1, undefined, Number.NaN], c: { d: null }, e: 2n ** 60n };

    const copy = copyAsJson(value);

    expect(copy).toStrictEqual({ b: [1, null, null], c: { d: null }, e: 2n ** 60n });
    expect((copy as typeof value).c).not.toBe(value.c);
  });

  test("keeps prototype keys as data", () => {
    const copy = copyAsJson(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')) as object;

    expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1},"constructor":2}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test("calls toJSON", () => {
    expect(copyAsJson({ at: new Date(0) })).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });

  test("refuses functions and cycles", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;

    expect(() => copyAsJson(cycle)).toThrow("contains a cycle");
    expect(() => copyAsJson({ f: () => 1 })).toThrow("a function cannot be written as JSON");
  });
});
