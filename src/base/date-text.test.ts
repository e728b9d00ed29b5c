import { describe, expect, it } from "vitest";
import { dateTimeText } from "./date-text.ts";
import { seededRandom } from "./loop/random.ts";

describe("dateTimeText", () => {
  it("is the beginning of toISOString for any time of a year with four digits", () => {
    const random = seededRandom(7);
    const [first, last] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
    const some = Array.from({ length: 2000 }, () => first + random.below(last - first));

    for (const ms of [first, last, -1, 0, 999, 1000, ...some])
      expect(dateTimeText(ms)).toBe(new Date(ms).toISOString().slice(0, 19));
  });

  it("leaves other years to toISOString, and refuses what is no date", () => {
    const far = Date.parse("+012026-01-02T03:04:05Z");

    expect(dateTimeText(far)).toBe("+012026-01-02T03:04");
    expect(() => dateTimeText(NaN)).toThrow(RangeError);
  });
});
