/**
 * Parses cron schedules as robfig/cron does: five fields, descriptors like `@daily`, or `@every 1h`. Error
 * texts equal that library's.
 */

import { parseDuration } from "../../api/values/time.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: WEEKDAYS },
];

const DESCRIPTORS: ReadonlySet<string> = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);
const EVERY = "@every ";
/** Both mean every value. */
const ALL: ReadonlySet<string> = new Set(["*", "?"]);

/** Upper bound of the length: parsing one megabyte takes a second, and no real schedule is that long. */
const CHARS_MAX = 10_000;

/** Error text; undefined for a valid schedule. */
export function findScheduleProblem(text: string): string | undefined {
  if (text === "") return "empty spec string";
  if (text.length > CHARS_MAX) return `may not be longer than ${CHARS_MAX} characters`;
  // A time zone in front parses here; the rules of CronJob refuse it.
  const zone = /^(?:CRON_)?TZ=\S*\s+/.exec(text)?.[0] ?? "";
  const schedule = text.slice(zone.length);
  if (schedule.startsWith("@")) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  return firstProblem(FIELDS.map((bounds, i) => () => fieldProblem(fields[i] ?? "", bounds)));
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith(EVERY)) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice(EVERY.length));
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return `failed to parse duration ${text}: ${error.message}`;
    throw error;
  }
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  const ranges = field.split(",").filter((range) => range !== "");
  return firstProblem(ranges.map((range) => () => rangeProblem(range, bounds)));
}

/** Forms: `*`, `5`, `1-5`, `*` with a step, `10-40/2`. */
function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = "", step, ...more] = range.split("/");
  const [low = "", high, ...rest] = span.split("-");
  const isAll = ALL.has(low);
  if (!isAll && rest.length > 0) return `too many hyphens: ${range}`;
  if (more.length > 0) return `too many slashes: ${range}`;
  const texts = isAll ? [] : high === undefined ? [low] : [low, high];
  const problem = firstProblem([
    ...texts.map((text) => () => numberProblem(text, bounds)),
    () => (step === undefined ? undefined : numberProblem(step, { min: 0, max: Infinity })),
  ]);
  if (problem !== undefined) return problem;
  const start = isAll ? bounds.min : numberOf(low, bounds);
  const end = isAll ? bounds.max : spanEnd({ start, high, step }, bounds);
  return boundsProblem({ start, end, range }, bounds) ?? stepProblem(step, range);
}

/** A single number with a step extends to the maximum. */
function spanEnd(
  {
    start,
    high,
    step,
  }: { readonly start: number; readonly high: string | undefined; readonly step: string | undefined },
  bounds: Bounds,
): number {
  if (high !== undefined) return numberOf(high, bounds);
  return step === undefined ? start : bounds.max;
}

function boundsProblem(
  { start, end, range }: { readonly start: number; readonly end: number; readonly range: string },
  { min, max }: Bounds,
): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${range}` : undefined;
}

function stepProblem(step: string | undefined, range: string): string | undefined {
  return step !== undefined && Number(step) === 0
    ? `step of range should be a positive number: ${range}`
    : undefined;
}

function numberProblem(text: string, { names = [] }: Bounds): string | undefined {
  if (names.includes(text.toLowerCase())) return undefined;
  if (!/^[+-]?[0-9]{1,9}$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : undefined;
}

function numberOf(text: string, { min, names = [] }: Bounds): number {
  const place = names.indexOf(text.toLowerCase());
  return place < 0 ? Number(text) : place + min;
}

function firstProblem(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A parsed schedule. */
export type CronSchedule =
  | { readonly type: "every"; readonly intervalMs: number }
  | {
      readonly type: "calendar";
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly days: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      readonly weekdays: ReadonlySet<number>;
      /** True when both day fields are restricted: then one match is enough. Otherwise both must match. */
      readonly isEitherDay: boolean;
    };

const DESCRIBED: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const NS_PER_SECOND = 1_000_000_000n;

/** Undefined for an invalid schedule. */
export function findSchedule(text: string): CronSchedule | undefined {
  if (findScheduleProblem(text) !== undefined) return undefined;
  const schedule = text.replace(/^(?:CRON_)?TZ=\S*\s+/, "");
  if (schedule.startsWith(EVERY)) {
    const seconds = Number(parseDuration(schedule.slice(EVERY.length)) / NS_PER_SECOND);
    return { type: "every", intervalMs: Math.max(1, seconds) * 1000 };
  }
  const fields = (DESCRIBED[schedule] ?? schedule).split(/\s+/).filter((field) => field !== "");
  const sets = FIELDS.map((bounds, at) => fieldValues(fields[at] ?? "", bounds));
  const [minutes = NONE, hours = NONE, days = NONE, months = NONE, weekdays = NONE] = sets;
  const isEitherDay = !isOpen(fields[2] ?? "") && !isOpen(fields[4] ?? "");
  return { type: "calendar", minutes, hours, days, months, weekdays, isEitherDay };
}

const NONE: ReadonlySet<number> = new Set();

/** True for a star without a step above one. A star with a step restricts the field. */
function isOpen(field: string): boolean {
  return field.split(",").some((range) => {
    const [span = "", step = "1"] = range.split("/");
    return ALL.has(span.split("-")[0] ?? "") && Number(step) === 1;
  });
}

function fieldValues(field: string, bounds: Bounds): ReadonlySet<number> {
  const values = new Set<number>();
  for (const range of field.split(",").filter((each) => each !== "")) {
    const [span = "", step] = range.split("/");
    const [low = "", high] = span.split("-");
    const isAll = ALL.has(low);
    const start = isAll ? bounds.min : numberOf(low, bounds);
    const end = isAll ? bounds.max : spanEnd({ start, high, step }, bounds);
    for (let value = start; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}
