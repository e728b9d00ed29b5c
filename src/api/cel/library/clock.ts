/** CEL functions for the parts of timestamps and durations. */
import { CelEvaluationError } from "../cel-error.ts";
import { clockIn } from "../instant.ts";
import type { Library } from "../overload.ts";
import { type CelValue, type Duration, Timestamp } from "../value.ts";

/** Looking up a time zone takes as long as about 200 simple steps. */
const ZONE_COST = 200;
const DAY_MS = 86_400_000;

const PARTS: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};

const LENGTHS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  // The whole duration, as in cel-go; the language definition means the part below a second.
  getMilliseconds: 1_000_000n,
};

function dayOfYear(clock: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(clock.getUTCFullYear());
  return Math.floor((clock.getTime() - start.getTime()) / DAY_MS);
}

function partOf(value: CelValue, zone: string, read: (clock: Date) => number): bigint {
  const clock = value instanceof Timestamp ? clockIn(value.ns, zone) : undefined;
  if (clock === undefined) throw new CelEvaluationError(`unknown time zone ${zone.slice(0, 100)}`);
  return BigInt(read(clock));
}

export const CLOCK: Library = [
  ...Object.entries(PARTS).flatMap(([name, read]): Library => [
    [`timestamp -> ${name}(): int`, ([value]) => partOf(value, "", read)],
    [
      `timestamp -> ${name}(string): int`,
      ([value, zone], run) => {
        run.charge(ZONE_COST);
        return partOf(value, zone as string, read);
      },
    ],
  ]),
  ...Object.entries(LENGTHS).map(([name, unit]): Library[number] => [
    `duration -> ${name}(): int`,
    ([value]) => (value as Duration).ns / unit,
  ]),
];
