import { describe, expect, test } from "vitest";
import { ageText, humanDuration, timeSince } from "./human-duration.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("humanDuration", () => {
  test.each([
    [-2 * SECOND, "<invalid>"],
    [-1 * SECOND, "0s"],
    [0, "0s"],
    [119 * SECOND, "119s"],
    [120 * SECOND, "2m"],
    [125 * SECOND, "2m5s"],
    [10 * MINUTE + SECOND, "10m"],
    [179 * MINUTE, "179m"],
    [3 * HOUR, "3h"],
    [3 * HOUR + MINUTE, "3h1m"],
    [8 * HOUR + MINUTE, "8h"],
    [47 * HOUR, "47h"],
    [2 * DAY, "2d"],
    [2 * DAY + HOUR, "2d1h"],
    [8 * DAY + HOUR, "8d"],
    [729 * DAY, "729d"],
    [2 * 365 * DAY, "2y"],
    [2 * 365 * DAY + DAY, "2y1d"],
    [8 * 365 * DAY + DAY, "8y"],
  ])("formats %i ms as %s", (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});

describe("ages", () => {
  const now = Date.UTC(2026, 0, 1, 0, 5);

  test("count from the creation timestamp", () => {
    expect(ageText({ metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } }, now)).toBe("5m");
  });

  test("are unknown without a creation timestamp", () => {
    expect(ageText({ metadata: {} }, now)).toBe("<unknown>");
    expect(timeSince(undefined, now)).toBe("<unknown>");
  });
});
