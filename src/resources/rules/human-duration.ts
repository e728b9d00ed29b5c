/** Formats ages and durations for tables: at most two units, and coarser for longer durations. */

import { findInstant } from "../../api/values/time.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Step {
  /** Upper bound of the durations for this step, exclusive, in seconds. */
  readonly below: number;
  readonly unit: readonly [seconds: number, suffix: string];
  /** Smaller unit that follows unless it is zero. */
  readonly rest?: readonly [seconds: number, suffix: string];
}

/** Steps of the format; the limits equal upstream's, so that tables look the same. */
const STEPS: readonly Step[] = [
  { below: 2 * MINUTE, unit: [1, "s"] },
  { below: 10 * MINUTE, unit: [MINUTE, "m"], rest: [1, "s"] },
  { below: 3 * HOUR, unit: [MINUTE, "m"] },
  { below: 8 * HOUR, unit: [HOUR, "h"], rest: [MINUTE, "m"] },
  { below: 2 * DAY, unit: [HOUR, "h"] },
  { below: 8 * DAY, unit: [DAY, "d"], rest: [HOUR, "h"] },
  { below: 2 * YEAR, unit: [DAY, "d"] },
  { below: 8 * YEAR, unit: [YEAR, "y"], rest: [DAY, "d"] },
  { below: Infinity, unit: [YEAR, "y"] },
];

/**
 * `119s`, `2m5s`, `3h`, `5d3h`. A time up to one second ahead counts as now, because clocks differ. A time
 * further ahead gives `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const step = STEPS.find(({ below }) => seconds < below);
  if (step === undefined) return "<invalid>";
  const [size, suffix] = step.unit;
  const text = `${Math.floor(seconds / size)}${suffix}`;
  if (step.rest === undefined) return text;
  const [restSize, restSuffix] = step.rest;
  const rest = Math.floor((seconds % size) / restSize);
  return rest === 0 ? text : `${text}${rest}${restSuffix}`;
}

/** Milliseconds since the epoch; undefined for an invalid or absent time. */
export function findTimeMs(time: string | undefined): number | undefined {
  const instant = time === undefined ? undefined : findInstant(time);
  return instant === undefined ? undefined : Number(instant / 1000n);
}

/** Time since then; `<unknown>` for an absent time. */
export function timeSince(time: string | undefined, now: number): string {
  const ms = findTimeMs(time);
  return ms === undefined ? "<unknown>" : humanDuration(now - ms);
}

/** Text of the Age column. */
export function ageText(
  object: { readonly metadata: { readonly creationTimestamp?: string } },
  now: number,
): string {
  return timeSince(object.metadata.creationTimestamp, now);
}
