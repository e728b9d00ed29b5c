/** Ages and durations as tables show them: at most two units, coarser the longer they are. */

import { findInstant } from "../../api/values/time.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Step {
  /** The step is for durations below this, in seconds. */
  readonly below: number;
  readonly unit: readonly [seconds: number, suffix: string];
  /** The smaller unit that is shown beside it unless it is zero. */
  readonly rest?: readonly [seconds: number, suffix: string];
}

/** Where one form gives way to the next; the limits are upstream's, so that tables look the same. */
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

/** `119s`, `2m5s`, `3h`, `5d3h`. Clocks may disagree by a second; a longer time in the future is `<invalid>`. */
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

/** Milliseconds since the epoch; undefined when there is no such time. */
export function findTimeMs(time: string | undefined): number | undefined {
  const instant = time === undefined ? undefined : findInstant(time);
  return instant === undefined ? undefined : Number(instant / 1000n);
}

/** How long ago it was; `<unknown>` when nobody said. */
export function timeSince(time: string | undefined, now: number): string {
  const ms = findTimeMs(time);
  return ms === undefined ? "<unknown>" : humanDuration(now - ms);
}

/** The Age column. */
export function ageText(
  object: { readonly metadata: { readonly creationTimestamp?: string } },
  now: number,
): string {
  return timeSince(object.metadata.creationTimestamp, now);
}
