import { describe, expect, test } from "vitest";
import { scaledValue } from "./int-or-percent.ts";

describe("scaledValue", () => {
  test.each([
    [[3, 10, "up"], 3],
    [["25%", 10, "up"], 3],
    [["25%", 10, "down"], 2],
    [["0%", 10, "up"], 0],
    [["150%", 4, "down"], 6],
    [[undefined, 10, "up"], 0],
    [["nonsense", 10, "up"], 0],
  ] as const)("of %j is %s", ([value, total, rounding], expected) => {
    expect(scaledValue(value, total, rounding)).toBe(expected);
  });
});
