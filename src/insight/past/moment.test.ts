import { expect, test } from "vitest";
import { parseMoment } from "./moment.ts";

const NOW = Date.parse("2026-01-31T12:00:00Z");

test.each([
  ["-5m", "2026-01-31T11:55:00.000Z"],
  ["10m", "2026-01-31T11:50:00.000Z"],
  ["-1h30m", "2026-01-31T10:30:00.000Z"],
  ["11:59", "2026-01-31T11:59:00.000Z"],
  ["11:59:30.5", "2026-01-31T11:59:30.500Z"],
  ["2026-01-30", "2026-01-30T00:00:00.000Z"],
  ["2026-01-31T13:00:00+02:00", "2026-01-31T11:00:00.000Z"],
])("the moment %s is the time %s", (text, time) => {
  expect(parseMoment(text, NOW)).toEqual({ type: "time", at: Date.parse(time) });
});

test("a number is a revision", () => {
  expect(parseMoment("1841", NOW)).toEqual({ type: "revision", revision: "1841" });
});

test.each(["", "yesterday", "-5", "25:00", "2026-13-01", "1h ago"])("%j is no moment", (text) => {
  expect(() => parseMoment(text, NOW)).toThrow(SyntaxError);
});
