/**
 * Computes the times of a cron schedule in a time zone. As in robfig/cron, a time that a clock change skips
 * is not due on that day. A time that it repeats is due twice.
 */
import type { CronSchedule } from "./cron-schedule.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * Upper bound of the search. A schedule without a match in this range is never due, for example one for 30
 * February.
 */
const HORIZON_DAYS = 5 * 366;
/** Exceeds the number of zone names. */
const ZONES_MAX = 1000;

type Calendar = Extract<CronSchedule, { type: "calendar" }>;

export interface CronClock {
  readonly schedule: CronSchedule;
  /** Name from the time zone database. */
  readonly zone: string;
}

/**
 * The first time after the given one; undefined when there is none. Times are milliseconds since the epoch.
 */
export function findNextTime({ schedule, zone }: CronClock, after: number): number | undefined {
  if (schedule.type === "every") return Math.floor(after / 1000) * 1000 + schedule.intervalMs;
  const today = localDay(after, zone);
  for (let ahead = 0; ahead <= HORIZON_DAYS; ahead++) {
    const day = today + ahead * DAY_MS;
    if (!isDueOn(schedule, day)) continue;
    const next = timesOf({ schedule, zone, day }).find((time) => time > after);
    if (next !== undefined) return next;
  }
  return undefined;
}

/** The last time after `since` and up to `now`. Intervals count from `since`. */
export function findLastTime(
  { schedule, zone }: CronClock,
  { since, now }: { readonly since: number; readonly now: number },
): number | undefined {
  if (schedule.type === "every") {
    const start = Math.floor(since / 1000) * 1000;
    const passed = Math.floor((now - start) / schedule.intervalMs);
    return passed < 1 ? undefined : start + passed * schedule.intervalMs;
  }
  const today = localDay(now, zone);
  for (let back = 0; back <= HORIZON_DAYS; back++) {
    const day = today - back * DAY_MS;
    // One day more, because the day begins earlier in some zones.
    if (day + 2 * DAY_MS < since) return undefined;
    if (!isDueOn(schedule, day)) continue;
    const last = timesOf({ schedule, zone, day }).findLast((time) => time <= now);
    if (last !== undefined) return last > since ? last : undefined;
  }
  return undefined;
}

/** Minutes between the zone's wall clock and UTC at a time. */
export function offsetMinutes(time: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
  return Math.round((wall - Math.floor(time / MINUTE_MS) * MINUTE_MS) / MINUTE_MS);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Cached, because creating a format is much slower than using it. Throws a RangeError for an unknown zone.
 */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  if (formats.size >= ZONES_MAX) formats.clear();
  formats.set(zone, made);
  return made;
}

/** The local date, as UTC midnight of the same date. */
function localDay(time: number, zone: string): number {
  return Math.floor((time + offsetMinutes(time, zone) * MINUTE_MS) / DAY_MS) * DAY_MS;
}

function isDueOn({ days, months, weekdays, isEitherDay }: Calendar, day: number): boolean {
  const date = new Date(day);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const isDay = days.has(date.getUTCDate());
  const isWeekday = weekdays.has(date.getUTCDay());
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

interface DueDay {
  readonly schedule: Calendar;
  readonly zone: string;
  readonly day: number;
}

/** All times of a day, in order. */
function timesOf({ schedule, zone, day }: DueDay): readonly number[] {
  const before = offsetMinutes(day - DAY_MS, zone);
  const after = offsetMinutes(day + 2 * DAY_MS, zone);
  if (before !== after) return timesOfOddDay({ schedule, zone, day }, [before, after]);
  const start = day - before * MINUTE_MS;
  const times: number[] = [];
  for (let hour = 0; hour < 24; hour++) {
    if (!schedule.hours.has(hour)) continue;
    for (let minute = 0; minute < 60; minute++)
      if (schedule.minutes.has(minute)) times.push(start + (hour * 60 + minute) * MINUTE_MS);
  }
  return times;
}

/** Looks up the wall clock for every minute of a day near a clock change. */
function timesOfOddDay({ schedule, zone, day }: DueDay, offsets: readonly number[]): readonly number[] {
  const first = day - Math.max(...offsets) * MINUTE_MS;
  const end = day + DAY_MS - Math.min(...offsets) * MINUTE_MS;
  const times: number[] = [];
  for (let time = first; time < end; time += MINUTE_MS) {
    const wall = new Date(time + offsetMinutes(time, zone) * MINUTE_MS);
    const isSameDay = Math.floor(wall.getTime() / DAY_MS) * DAY_MS === day;
    if (isSameDay && schedule.hours.has(wall.getUTCHours()) && schedule.minutes.has(wall.getUTCMinutes()))
      times.push(time);
  }
  return times;
}
