/**
 * Times and durations in the forms Go reads and writes: `Time` in whole seconds UTC, `MicroTime` with six decimals,
 * durations as `1h30m0s`. Instants are whole microseconds since 1970, exact for every four-digit year.
 */
import { dateTimeText } from "../../base/date-text.ts";

/** Go's pattern for Time and MicroTime: two-digit seconds, an optional fraction, a required zone. */
const RFC_3339 = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

const US_PER_MS = 1000n;

/** The instant in microseconds since 1970. Finer digits are dropped. Undefined if the text is not an RFC 3339 time. */
export function findInstant(text: string): bigint | undefined {
  // Bounds the number of decimals.
  const parts = text.length > 100 ? null : RFC_3339.exec(text);
  if (parts === null) return undefined;
  const [, date = "", clock = "", fraction = "", zone = ""] = parts;
  const dateMs = findDateMs(date);
  const clockMs = findClockMs(clock);
  const zoneMs = findZoneMs(zone);
  if (dateMs === undefined || clockMs === undefined || zoneMs === undefined) return undefined;
  return BigInt(dateMs + clockMs - zoneMs) * US_PER_MS + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

/** A `Time` as Go writes it, `2026-01-02T03:04:05Z`. Fractions are dropped. Throws a SyntaxError with Go's message. */
export function canonicalTime(text: string): string {
  return formatTime(instantOf(text, "2006-01-02T15:04:05Z07:00"));
}

/** A `MicroTime` as Go writes it, `2026-01-02T03:04:05.000006Z`. Throws a SyntaxError with Go's message. */
export function canonicalMicroTime(text: string): string {
  return formatMicroTime(instantOf(text, "2006-01-02T15:04:05.000000Z07:00"));
}

/** Cache of the last formatted second: most times of one moment are equal. */
let latest = { second: Number.NaN, date: "", time: "" };

/** Milliseconds since 1970 as a `Time`: whole seconds, rounded down as Go does. */
export function timeText(ms: number): string {
  return secondOf(ms).time;
}

/** Milliseconds since 1970 as a `MicroTime`: six decimals, rounded down. */
export function microTimeText(ms: number): string {
  const micros = Math.floor((ms - Math.floor(ms / 1000) * 1000) * 1000);
  return `${secondOf(ms).date}.${String(micros).padStart(6, "0")}Z`;
}

function secondOf(ms: number): typeof latest {
  const second = Math.floor(ms / 1000);
  if (latest.second === second) return latest;
  const date = dateTimeText(second * 1000);
  latest = { second, date, time: `${date}Z` };
  return latest;
}

/** An instant in microseconds since 1970 as a `Time`: whole seconds, rounded down as Go does. */
export function formatTime(instantUs: bigint): string {
  return `${dateText(instantUs)}Z`;
}

/** An instant in microseconds since 1970 as a `MicroTime`, with six decimals. */
export function formatMicroTime(instantUs: bigint): string {
  const micros = ((instantUs % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return `${dateText(instantUs)}.${String(micros).padStart(6, "0")}Z`;
}

function instantOf(text: string, layout: string): bigint {
  const instant = findInstant(text);
  if (instant !== undefined) return instant;
  const found = JSON.stringify(text.slice(0, 100));
  throw new SyntaxError(`parsing time ${found} as "${layout}": cannot parse ${found} as "2006"`);
}

/** Milliseconds between 1970 and midnight at the start of the day. Undefined for an invalid date. */
function findDateMs(date: string): number | undefined {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  // Date turns 30 February into a day of March.
  const isSame = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  return isSame ? midnight.getTime() : undefined;
}

function findClockMs(clock: string): number | undefined {
  const [hour = 0, minute = 0, second = 0] = clock.split(":").map(Number);
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

function findZoneMs(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const [hours = 0, minutes = 0] = zone.slice(1).split(":").map(Number);
  if (hours > 24 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -60_000 : 60_000) * (hours * 60 + minutes);
}

function dateText(instantUs: bigint): string {
  const remainder = ((instantUs % US_PER_MS) + US_PER_MS) % US_PER_MS;
  return dateTimeText(Number((instantUs - remainder) / US_PER_MS));
}

const NS_PER_SECOND = 1_000_000_000n;
const UNIT_NS = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["µs", 1000n],
  ["μs", 1000n],
  ["ms", 1_000_000n],
  ["s", NS_PER_SECOND],
  ["m", 60n * NS_PER_SECOND],
  ["h", 3600n * NS_PER_SECOND],
]);
const DURATION_MAX = 2n ** 63n - 1n;
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Parses a Go duration such as `1h30m` to nanoseconds. Throws a SyntaxError with Go's message. */
export function parseDuration(text: string): bigint {
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0n;
  const magnitude = unsigned === "" || unsigned.length > 100 ? undefined : findMagnitude(unsigned);
  if (magnitude === undefined || magnitude > DURATION_MAX) {
    throw new SyntaxError(`time: ${durationProblem(unsigned)} ${JSON.stringify(text.slice(0, 100))}`);
  }
  return text.startsWith("-") ? -magnitude : magnitude;
}

const NUMBER_AND_UNIT = /(?:\d+\.?\d*|\.\d+)([^\d.]*)/y;

/** Go's message about the first part that it cannot parse. */
function durationProblem(text: string): string {
  NUMBER_AND_UNIT.lastIndex = 0;
  while (text.length <= 100 && NUMBER_AND_UNIT.lastIndex < text.length) {
    const unit = NUMBER_AND_UNIT.exec(text)?.[1];
    if (unit === undefined) break;
    if (unit === "") return "missing unit in duration";
    if (!UNIT_NS.has(unit)) return `unknown unit ${JSON.stringify(unit)} in duration`;
  }
  return "invalid duration";
}

/** Formats nanoseconds as Go writes durations: `1h30m0s`, `1.5s`, `2ms`, `0s`. */
export function formatDuration(ns: bigint): string {
  if (ns < 0n) return `-${formatDuration(-ns)}`;
  if (ns === 0n) return "0s";
  if (ns < 1000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${decimal(ns, 1000n)}µs`;
  if (ns < NS_PER_SECOND) return `${decimal(ns, 1_000_000n)}ms`;
  const seconds = `${decimal(ns % (60n * NS_PER_SECOND), NS_PER_SECOND)}s`;
  const minutes = ns / (60n * NS_PER_SECOND);
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function findMagnitude(text: string): bigint | undefined {
  let total = 0n;
  DURATION_PART.lastIndex = 0;
  while (DURATION_PART.lastIndex < text.length) {
    const part = DURATION_PART.exec(text);
    if (part === null) return undefined;
    const [, whole = "", fraction = "", unit = ""] = part;
    if (whole + fraction === "") return undefined;
    const factor = UNIT_NS.get(unit) ?? 0n;
    total +=
      BigInt(whole || "0") * factor + (BigInt(fraction || "0") * factor) / 10n ** BigInt(fraction.length);
  }
  return total;
}

function decimal(value: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(value % unit)
    .padStart(digits, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(value / unit) : `${value / unit}.${fraction}`;
}
