import { describe, expect, test } from "vitest";
import { timeText } from "../../api/values/time.ts";
import { findSchedule } from "./cron-schedule.ts";
import type { CronSchedule } from "./cron-schedule.ts";
import { findLastTime, findNextTime } from "./cron-times.ts";

function schedule(text: string): CronSchedule {
  const found = findSchedule(text);
  if (found === undefined) throw new Error(`${text} is no schedule`);
  return found;
}

function next(text: string, after: string, zone = "UTC"): string | undefined {
  const time = findNextTime({ schedule: schedule(text), zone }, Date.parse(after));
  return time === undefined ? undefined : timeText(time);
}

function last(
  text: string,
  { since, now }: { since: string; now: string },
  zone = "UTC",
): string | undefined {
  const moment = { since: Date.parse(since), now: Date.parse(now) };
  const time = findLastTime({ schedule: schedule(text), zone }, moment);
  return time === undefined ? undefined : timeText(time);
}

describe("the next time", () => {
  test.each([
    ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
    ["* * * * *", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z"],
    ["*/15 * * * *", "2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z"],
    ["5-10/2 * * * *", "2026-01-01T00:07:00Z", "2026-01-01T00:09:00Z"],
    ["20/20 * * * *", "2026-01-01T00:20:00Z", "2026-01-01T00:40:00Z"],
    ["0 9,17 * * *", "2026-01-01T10:00:00Z", "2026-01-01T17:00:00Z"],
    ["0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"],
    ["0 0 1 jan *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"],
    ["0 0 * * sun", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"],
    ["0 0 ? * mon-fri", "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z"],
    // Both day fields are restricted: one match is enough.
    ["0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
    ["0 0 13 * fri", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"],
    // A star with a step restricts the field.
    ["0 0 */10 * mon", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"],
    ["0 0 */1 * mon", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"],
    ["@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"],
    ["@daily", "2026-01-01T00:30:00Z", "2026-01-02T00:00:00Z"],
    ["@midnight", "2026-01-01T00:30:00Z", "2026-01-02T00:00:00Z"],
    ["@weekly", "2026-01-01T00:30:00Z", "2026-01-04T00:00:00Z"],
    ["@monthly", "2026-01-01T00:30:00Z", "2026-02-01T00:00:00Z"],
    ["@yearly", "2026-01-01T00:30:00Z", "2027-01-01T00:00:00Z"],
    ["@annually", "2026-01-01T00:30:00Z", "2027-01-01T00:00:00Z"],
    ["@every 90s", "2026-01-01T00:00:10.500Z", "2026-01-01T00:01:40Z"],
    ["@every 1ms", "2026-01-01T00:00:10Z", "2026-01-01T00:00:11Z"],
  ])("of %s after %s is %s", (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  test("is undefined for a date that does not exist", () => {
    expect(next("59 23 31 2 *", "2026-01-01T00:00:00Z")).toBeUndefined();
  });

  test.each([
    ["0 9 * * *", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
    ["0 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01T03:30:00Z"],
    ["0 0 1 * *", "Pacific/Kiritimati", "2026-01-15T00:00:00Z", "2026-01-31T10:00:00Z"],
    ["0 0 1 * *", "Pacific/Pago_Pago", "2026-01-15T00:00:00Z", "2026-02-01T11:00:00Z"],
    // On 29 March 2026 the clocks in Berlin go from 2 to 3.
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"],
    ["30 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"],
    ["0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"],
    // On 25 October 2026 they go from 3 back to 2.
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"],
    ["30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"],
    ["15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:15:00Z", "2026-04-04T15:45:00Z"],
  ])("of %s in %s after %s is %s", (text, zone, ...[after, expected]) => {
    expect(next(text, after, zone)).toBe(expected);
  });
});

describe("the last time", () => {
  test.each<readonly [string, string, string, string | undefined]>([
    ["0 * * * *", "2026-01-01T00:00:00Z", "2026-01-03T12:34:00Z", "2026-01-03T12:00:00Z"],
    ["0 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z"],
    ["0 * * * *", "2026-01-01T01:00:00Z", "2026-01-01T01:59:00Z", undefined],
    ["*/5 9 * * *", "2026-01-01T09:00:00Z", "2026-01-02T08:00:00Z", "2026-01-01T09:55:00Z"],
    ["0 0 1 1 *", "2022-06-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["0 0 31 2 *", "2020-06-01T00:00:00Z", "2026-12-01T00:00:00Z", undefined],
    ["@every 7m", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T00:56:00Z"],
    ["@every 7m", "2026-01-01T00:00:00Z", "2026-01-01T00:06:59Z", undefined],
  ])("of %s since %s at %s is %s", (text, since, ...[now, expected]) => {
    expect(last(text, { since, now })).toBe(expected);
  });

  test("equals the result of a forward search, through a year with clock changes", () => {
    const clock = { schedule: schedule("17,45 2,3 * * *"), zone: "Europe/Berlin" };
    const since = Date.parse("2026-01-01T00:00:00Z");
    let expected: number | undefined;
    let coming = findNextTime(clock, since);
    for (let now = since; now < since + 365 * 86_400_000; now += 6 * 3_600_000) {
      while (coming !== undefined && coming <= now) {
        expected = coming;
        coming = findNextTime(clock, coming);
      }
      expect(findLastTime(clock, { since, now })).toBe(expected);
    }
  });
});
