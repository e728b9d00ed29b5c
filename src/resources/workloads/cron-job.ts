import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { CronJob, JobTemplateSpec } from "../../api/generated/types/batch-v1.ts";
import { cronJobName } from "../../api/values/names.ts";
import { podTemplateDefaults } from "../pod/pod-defaults.ts";
import { nameWarnings, podWarnings } from "../pod/pod-warnings.ts";
import { ageText, timeSince } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isOldPodError } from "../rules/tolerated-errors.ts";
import { checkCounts, checkRequiredChoice, isSame } from "../rules/value-rules.ts";
import { findScheduleProblem } from "./cron-schedule.ts";
import { failurePolicyDefaults } from "./job.ts";
import { checkJobSpec, jobSpecWarnings } from "./job/job-spec-rules.ts";
import { containerCells, selectorCell } from "./workload-cells.ts";

const CONCURRENCY = ["Allow", "Forbid", "Replace"];

export const cronJob = defineKind<CronJob>("batch/v1", "CronJob", {
  nameRule: cronJobName,

  defaults({ spec }) {
    spec.concurrencyPolicy ??= "Allow";
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    failurePolicyDefaults(spec.jobTemplate.spec.podFailurePolicy);
    podTemplateDefaults(spec.jobTemplate.spec.template);
  },

  validate({ spec }, errors) {
    const path = fieldPath("spec");
    checkSchedule(spec.schedule, path.child("schedule"), errors);
    checkCounts(spec, ["startingDeadlineSeconds"], { path, errors });
    if (spec.timeZone !== undefined) checkTimeZone(spec.timeZone, path.child("timeZone"), errors);
    const concurrency = path.child("concurrencyPolicy");
    checkRequiredChoice({ path: concurrency, value: spec.concurrencyPolicy, among: CONCURRENCY }, errors);
    checkJobTemplate(spec.jobTemplate, path.child("jobTemplate", "spec"), errors);
    checkCounts(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], { path, errors });
  },

  tolerates(error) {
    // A stored zone stays valid, because zone data differs between machines.
    const isZone =
      error.field === "spec.timeZone" || error.body.includes("cannot use TZ or CRON_TZ in schedule");
    return isZone || isOldPodError(error);
  },

  warnings({ metadata, spec }, previous) {
    if (previous !== undefined && isSame(spec, previous.spec)) return [];
    return [
      ...(previous === undefined ? nameWarnings(metadata.name, "controller") : []),
      ...jobSpecWarnings(spec.jobTemplate.spec, "spec.jobTemplate.spec"),
      ...podWarnings(spec.jobTemplate.spec.template, "spec.jobTemplate.spec.template"),
    ];
  },

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      spec.schedule,
      spec.timeZone ?? "<none>",
      spec.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False",
      (status.active ?? []).length,
      status.lastScheduleTime === undefined ? "<none>" : timeSince(status.lastScheduleTime, now),
      ageText(object, now),
      ...containerCells(spec.jobTemplate.spec.template.spec),
      selectorCell(spec.jobTemplate.spec.selector),
    ];
  },
});

function checkSchedule(schedule: string, path: FieldPath, errors: FieldErrors): void {
  if (schedule === "") return errors.required(path);
  const problem = findScheduleProblem(schedule);
  if (problem !== undefined) errors.invalid(path, schedule, problem);
  if (schedule.includes("TZ")) {
    errors.invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  }
}

/** Validates a name of the time zone database that this process has. */
function checkTimeZone(zone: string, path: FieldPath, errors: FieldErrors): void {
  if (zone === "") return errors.invalid(path, zone, "timeZone must be nil or non-empty string");
  const isWellFormed = zone
    .split("/")
    .every((part) => !isReservedPart(part) && /^[A-Za-z.\-_0-9+]{1,14}$/.test(part));
  if (!isWellFormed) return errors.invalid(path, zone, `unknown time zone ${zone}`);
  if (zone.toLowerCase() === "local") {
    const problem = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    return errors.invalid(path, zone, problem);
  }
  if (!isKnownZone(zone)) errors.invalid(path, zone, `unknown time zone ${zone}`);
}

function isReservedPart(part: string): boolean {
  return part === "." || part === ".." || part.startsWith("-");
}

function isKnownZone(zone: string): boolean {
  // `Intl` accepts offsets, +01:00 for example, but they are no zone names.
  if (/^[+-]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The server generates the selector of each job on create. */
function checkJobTemplate({ spec }: JobTemplateSpec, path: FieldPath, errors: FieldErrors): void {
  checkJobSpec(spec, path, errors);
  if (spec.selector !== undefined) {
    errors.invalid(path.child("selector"), spec.selector, "`selector` will be auto-generated");
  }
  if (spec.manualSelector === true) errors.notSupported(path.child("manualSelector"), true, ["nil", "false"]);
}
