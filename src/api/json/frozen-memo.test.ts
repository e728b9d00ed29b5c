import { describe, expect, test } from "vitest";
import { frozenMemo } from "./frozen-memo.ts";

describe("frozenMemo", () => {
  test("computes once for a frozen value, and each time for a mutable one", () => {
    let calls = 0;
    const sizeOf = frozenMemo((value: readonly number[]) => {
      calls += 1;
      return value.length;
    });
    const frozen = Object.freeze([1, 2]);
    const open = [1];

    expect([sizeOf(frozen), sizeOf(frozen)]).toEqual([2, 2]);
    expect(calls).toBe(1);
    expect(sizeOf(open)).toBe(1);
    open.push(2, 3);
    expect(sizeOf(open)).toBe(3);
    expect(calls).toBe(3);
  });

  test("caches an undefined result", () => {
    let calls = 0;
    const nothing = frozenMemo((): undefined => {
      calls += 1;
      return undefined;
    });
    const value = Object.freeze({});

    nothing(value);
    nothing(value);

    expect(calls).toBe(1);
  });
});
