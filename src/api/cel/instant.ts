/** Timestamps of expressions, in nanoseconds: years 1 to 9999, time zones by name or by offset. */
import { dateTimeText } from "../../base/date-text.ts";
import { findInstant } from "../values/time.ts";

const NS_PER_US = 1000n;
const NS_PER_MS = 1_000_000n;
const NS_PER_SECOND = 1_000_000_000n;
/** First instant of year 1, which is the zero of Go's time.Time, and last instant of year 9999. */
export const INSTANT_MIN = -62_135_596_800n * NS_PER_SECOND;
const INSTANT_MAX = 253_402_300_800n * NS_PER_SECOND - 1n;
const FRACTION = /^([^.]{19})\.(\d{1,9})(.+)$/;

/** Nanoseconds since 1970; `undefined` when the text is not an RFC 3339 time. */
export function instantOf(text: string): bigint | undefined {
  const [, whole, fraction = "", zone = ""] = FRACTION.exec(text) ?? [];
  const seconds = findInstant(whole === undefined ? text : whole + zone);
  if (seconds === undefined) return undefined;
  const ns = seconds * NS_PER_US + BigInt(fraction.padEnd(9, "0"));
  return isInstant(ns) ? ns : undefined;
}

export function isInstant(ns: bigint): boolean {
  return ns >= INSTANT_MIN && ns <= INSTANT_MAX;
}

const OFFSET = /([+-])(\d{2}):(\d{2})$/;

/** Offset from UTC of an RFC 3339 time. */
export function offsetMinutesOf(text: string): number {
  const [, sign, hours = "0", minutes = "0"] = OFFSET.exec(text) ?? [];
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === "-" && offset > 0 ? -offset : offset;
}

/** RFC 3339 text, without trailing zeros in the fraction. */
export function instantText(ns: bigint, offsetMinutes = 0): string {
  const within = remainder(ns, NS_PER_SECOND);
  const date = dateTimeText(Number((ns - within) / NS_PER_MS) + offsetMinutes * 60_000);
  const fraction = within === 0n ? "" : `.${String(within).padStart(9, "0").replace(/0+$/, "")}`;
  return `${date}${fraction}${offsetText(offsetMinutes)}`;
}

function offsetText(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, "0"));
  return `${minutes < 0 ? "-" : "+"}${hours}:${rest}`;
}

/** Local date and time in a zone, in the UTC fields of a Date; `undefined` for an unknown zone. */
export function clockIn(ns: bigint, zone: string): Date | undefined {
  const ms = Number((ns - remainder(ns, NS_PER_MS)) / NS_PER_MS);
  const offset = findOffsetMs(ms, zone);
  return offset === undefined ? undefined : new Date(ms + offset);
}

const DIFFERENCE = /^([+-]?)(\d{1,2}):(\d{2})$/;

function findOffsetMs(ms: number, zone: string): number | undefined {
  if (zone === "" || zone === "UTC" || zone === "Z") return 0;
  const parts = DIFFERENCE.exec(zone);
  if (parts === null) return findNamedOffsetMs(ms, zone);
  const [, sign, hours, minutes] = parts;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Bound of cached formats. Making one takes longer than using it, and a rule uses one or two zones. */
const FORMATS_MAX = 64;
const formats = new Map<string, Intl.DateTimeFormat>();

function findNamedOffsetMs(ms: number, zone: string): number | undefined {
  const format = formats.get(zone) ?? findFormat(zone);
  if (format === undefined) return undefined;
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const local = new Date(0);
  local.setUTCFullYear(part("year"), part("month") - 1, part("day"));
  local.setUTCHours(part("hour"), part("minute"), part("second"));
  return local.getTime() - Math.floor(ms / 1000) * 1000;
}

function findFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    const numeric = "numeric";
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    if (formats.size >= FORMATS_MAX) formats.clear();
    formats.set(timeZone, format);
    return format;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function remainder(value: bigint, unit: bigint): bigint {
  return ((value % unit) + unit) % unit;
}
