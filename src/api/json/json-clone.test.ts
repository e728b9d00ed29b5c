import { describe, expect, test } from "vitest";
import { cloneJson } from "./json-clone.ts";

describe("cloneJson", () => {
  test("a copy has the same text and shares no objects", () => {
    const value = { list: [1, { deep: [null, "text"] }], empty: {}, large: 2n ** 60n };

    const copy = cloneJson(value);

    expect(copy).toEqual(value);
    expect(Object.keys(copy)).toEqual(Object.keys(value));
    expect(copy.list).not.toBe(value.list);
    expect(copy.list[1]).not.toBe(value.list[1]);
    expect(copy.empty).not.toBe(value.empty);
  });

  test("keys with a meaning in JavaScript are data", () => {
    const text = '{"__proto__":{"a":[1]},"constructor":{"b":2}}';

    const copy = cloneJson(JSON.parse(text) as object);

    expect(JSON.stringify(copy)).toBe(text);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});
