import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalMicroTime,
  canonicalTime,
  findInstant,
  formatDuration,
  formatMicroTime,
  formatTime,
  microTimeText,
  parseDuration,
  timeText,
} from "./time.ts";

describe("times", () => {
  test.each([
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"],
    ["2026-01-02T03:04:05.9999999Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.999999Z"],
    ["2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z"],
    ["2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z", "2026-01-02T01:04:05.000000Z"],
    ["2026-01-01T00:00:00-05:30", "2026-01-01T05:30:00Z", "2026-01-01T05:30:00.000000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.500000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"],
  ])("%s", (text, time, microTime) => {
    expect(canonicalTime(text)).toBe(time);
    expect(canonicalMicroTime(text)).toBe(microTime);
  });

  test.each([
    "",
    "2026-01-02",
    "2026-01-02 03:04:05Z",
    "2026-01-02T03:04:05",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T03:04:60Z",
    "2026-01-02T03:04:05.Z",
    "2026-01-02T03:04:05+2:00",
    "2026-01-02T03:04:05+25:00",
    "yesterday",
    `2026-01-02T03:04:05.${"1".repeat(1_000_000)}Z`,
  ])("refuses %j", (text) => {
    expect(findInstant(text)).toBeUndefined();
    expect(() => canonicalTime(text)).toThrow(SyntaxError);
  });

  test("the error contains the text and the layout", () => {
    expect(() => canonicalTime("x")).toThrow(
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    );
  });

  test("a clock in milliseconds gives the same texts as the instant in microseconds", () => {
    const clocks = fc.integer({ min: -8_000_000_000_000, max: 8_000_000_000_000 });
    const eighths = fc.integer({ min: 0, max: 7 });
    fc.assert(
      fc.property(clocks, eighths, (whole, eighth) => {
        const ms = whole + eighth / 8;
        const instant = BigInt(ms * 1000);
        expect([timeText(ms), microTimeText(ms)]).toEqual([formatTime(instant), formatMicroTime(instant)]);
      }),
    );
  });

  test("formatting and parsing are inverse", () => {
    const instants = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(findInstant(formatMicroTime(instant))).toBe(instant);
        const seconds = findInstant(formatTime(instant)) ?? expect.fail("a time");
        expect(instant - seconds).toBeGreaterThanOrEqual(0n);
        expect(instant - seconds).toBeLessThan(1_000_000n);
      }),
    );
  });
});

describe("durations", () => {
  test.each([
    ["0", "0s"],
    ["1h30m", "1h30m0s"],
    ["90m", "1h30m0s"],
    ["1.5s", "1.5s"],
    ["1500ms", "1.5s"],
    ["-2m", "-2m0s"],
    ["+1us", "1µs"],
    ["1µs500ns", "1.5µs"],
    ["3ns", "3ns"],
    ["2ms", "2ms"],
    [".5s", "500ms"],
    ["1.s", "1s"],
    ["24h", "24h0m0s"],
  ])("%s is %s", (text, canonical) => {
    expect(formatDuration(parseDuration(text))).toBe(canonical);
  });

  test.each(["", "s", ".s", "--1s", "9999999h", "x", "1s".repeat(1_000_000)])("refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow(/^time: invalid duration/);
  });

  test.each([
    ["1", 'time: missing unit in duration "1"'],
    ["1m5", 'time: missing unit in duration "1m5"'],
    ["1d", 'time: unknown unit "d" in duration "1d"'],
    ["1h 2m", 'time: unknown unit "h " in duration "1h 2m"'],
  ])("reports the problem of %j", (text, problem) => {
    expect(() => parseDuration(text)).toThrow(new SyntaxError(problem));
  });

  test("formatting and parsing are inverse", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (ns) => {
        expect(parseDuration(formatDuration(ns))).toBe(ns);
      }),
    );
  });
});
