/** Builds the Job for one scheduled time. Its name follows from the time, so that it cannot be created twice. */
import type { Manifest } from "../../api/api-object.ts";
import type { CronJob, Job } from "../../api/generated/types/batch-v1.ts";
import { dateTimeText } from "../../base/date-text.ts";
import { offsetMinutes } from "../../resources/workloads/cron-times.ts";
import { ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const MINUTE_MS = 60_000;

export function jobName({ metadata }: CronJob, at: number): string {
  return `${metadata.name}-${String(Math.floor(at / MINUTE_MS))}`;
}

export function newJob(cronJob: CronJob, at: number): Manifest<Job> {
  const { jobTemplate, timeZone = "UTC" } = cronJob.spec;
  const { labels, annotations } = jobTemplate.metadata;
  const { namespace } = cronJob.metadata;
  return {
    metadata: {
      name: jobName(cronJob, at),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [SCHEDULED_AT]: localTime(at, timeZone) },
      ownerReferences: [ownerReferenceTo(cronJob)],
    },
    spec: jobTemplate.spec,
  };
}

/** True if the schedule created the Job. A Job that a user started by hand does not count for the concurrency policy. */
export function isMadeFor(cronJob: CronJob, { metadata }: Job): boolean {
  const at = Date.parse(metadata.annotations?.[SCHEDULED_AT] ?? "");
  return metadata.name === jobName(cronJob, at);
}

/** Example: `2026-03-28T02:30:00+01:00`. */
function localTime(at: number, zone: string): string {
  const offset = offsetMinutes(at, zone);
  const wall = dateTimeText(at + offset * MINUTE_MS);
  if (offset === 0) return `${wall}Z`;
  const two = (value: number): string => String(value).padStart(2, "0");
  const size = Math.abs(offset);
  return `${wall}${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
