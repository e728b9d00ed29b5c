import { describe, expect, it } from "vitest";
import { dateTimeNanosText, dateTimeText } from "./date-text.ts";
import { seededRandom } from "./loop/random.ts";

describe("dateTimeText", () => {
  it("equals the start of toISOString for every time in a year of four digits", () => {
    const random = seededRandom(7);
    const [first, last] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
    const some = Array.from({ length: 2000 }, () => first + random.below(last - first));

    for (const ms of [first, last, -1, 0, 999, 1000, ...some])
      expect(dateTimeText(ms)).toBe(new Date(ms).toISOString().slice(0, 19));
  });

  it("uses toISOString for other years, and rejects an invalid date", () => {
    const far = Date.parse("+012026-01-02T03:04:05Z");

    expect(dateTimeText(far)).toBe("+012026-01-02T03:04");
    expect(() => dateTimeText(NaN)).toThrow(RangeError);
  });
});

describe("dateTimeNanosText", () => {
  it("has nine digits of the second", () => {
    expect(dateTimeNanosText(Date.parse("2026-11-19T04:10:17.006Z"))).toBe("2026-11-19T04:10:17.006000000Z");
  });
});
