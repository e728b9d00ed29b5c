import { describe, expect, test } from "vitest";
import { findNextChange } from "./probe-schedule.ts";

const TICKS = { firstAt: 5000, periodMs: 10_000 };

describe("the next change of a simulated probe", () => {
  test("is at the first tick within its span", () => {
    const span = { fromMs: 20_000, untilMs: Infinity };

    expect(findNextChange(span, TICKS, { after: 5000, isSuccess: false })).toBe(25_000);
  });

  test("is at the first tick after its span", () => {
    const span = { fromMs: 0, untilMs: 31_000 };

    expect(findNextChange(span, TICKS, { after: 5000, isSuccess: true })).toBe(35_000);
  });

  test("is at the next tick when the span was replaced", () => {
    const span = { fromMs: 0, untilMs: 1000 };

    expect(findNextChange(span, TICKS, { after: 42_000, isSuccess: true })).toBe(45_000);
  });

  test("is undefined when the result stays the same", () => {
    const always = { fromMs: 0, untilMs: Infinity };
    const never = { fromMs: Infinity, untilMs: Infinity };

    expect(findNextChange(always, TICKS, { after: 5000, isSuccess: true })).toBeUndefined();
    expect(findNextChange(never, TICKS, { after: 5000, isSuccess: false })).toBeUndefined();
  });
});
