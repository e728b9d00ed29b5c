/** Decides if a CronJob is due, for which scheduled time, and when to check again. Pure. */
import type { CronJob } from "../../api/generated/types/batch-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { findSchedule, findScheduleProblem } from "../../resources/workloads/cron-schedule.ts";
import { findLastTime, findNextTime, offsetMinutes } from "../../resources/workloads/cron-times.ts";
import type { CronClock } from "../../resources/workloads/cron-times.ts";

/** More missed starts than this raise a warning: a clock is wrong, or the controller was down for long. */
const MISSED_MAX = 100;
/** Delay after a scheduled time, so that it has passed despite clock differences. */
const DELTA_MS = 100;

export type RunPlan =
  | { readonly type: "never"; readonly problem?: ScheduleProblem }
  | { readonly type: "later"; readonly recheckAfterMs: number | undefined }
  | {
      readonly type: "due";
      /** Most recent missed time. */
      readonly at: number;
      readonly isTooLate: boolean;
      readonly areTooManyMissed: boolean;
      readonly recheckAfterMs: number | undefined;
    };

export interface ScheduleProblem {
  readonly reason: string;
  readonly message: string;
}

export function planRun(cronJob: CronJob, now: number): RunPlan {
  const { spec, metadata } = cronJob;
  if (metadata.deletionTimestamp !== undefined) return { type: "never" };
  const clock = clockOf(cronJob);
  if ("reason" in clock) return { type: "never", problem: clock };
  if (spec.suspend === true) return { type: "never" };
  const since = lastHandled(cronJob);
  const earliest = withinDeadline(cronJob, since, now);
  if (findNextTime(clock, earliest) === undefined) return { type: "never", problem: neverComing(spec) };
  const recheckAfterMs = recheckOf(clock, since, now);
  const at = findLastTime(clock, { since: earliest, now });
  if (at === undefined) return { type: "later", recheckAfterMs };
  const { startingDeadlineSeconds: deadline } = spec;
  return {
    type: "due",
    at,
    isTooLate: deadline !== undefined && at + plainNumber(deadline) * 1000 < now,
    areTooManyMissed: areTooManyMissed(clock, earliest, at),
    recheckAfterMs,
  };
}

/** The API server validates both, but its time zone database may differ from this one. */
function clockOf({ spec }: CronJob): CronClock | ScheduleProblem {
  const { timeZone = "UTC", schedule: text } = spec;
  const schedule = findSchedule(text);
  if (schedule === undefined) {
    const message = `unparseable schedule: ${JSON.stringify(text)} : ${findScheduleProblem(text) ?? ""}`;
    return { reason: "UnparseableSchedule", message };
  }
  try {
    offsetMinutes(0, timeZone);
    return { schedule, zone: timeZone };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`;
    return { reason: "UnknownTimeZone", message };
  }
}

/** A schedule such as `59 23 31 2 *` has no times. The message is upstream's. */
function neverComing({ schedule }: CronJob["spec"]): ScheduleProblem {
  const why = "time difference between two schedules is less than 1 second";
  return { reason: "InvalidSchedule", message: `invalid schedule: ${schedule} : ${why}` };
}

/** Times up to this one have been handled. */
function lastHandled({ metadata, status }: CronJob): number {
  return Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp);
}

/** Earlier times are too old to be started. */
function withinDeadline({ spec }: CronJob, since: number, now: number): number {
  const { startingDeadlineSeconds: deadline } = spec;
  return deadline === undefined ? since : Math.max(since, now - plainNumber(deadline) * 1000);
}

function areTooManyMissed(clock: CronClock, since: number, last: number): boolean {
  let time: number | undefined = since;
  for (let missed = 0; missed <= MISSED_MAX; missed++) {
    time = findNextTime(clock, time);
    if (time === undefined || time >= last) return false;
  }
  return true;
}

/** Undefined if no further time exists. */
function recheckOf(clock: CronClock, since: number, now: number): number | undefined {
  const last = findLastTime(clock, { since, now }) ?? since;
  const next = findNextTime(clock, last);
  return next === undefined ? undefined : Math.max(0, next - now) + DELTA_MS;
}
