import { describe, expect, test } from "vitest";
import type { CronJob, CronJobSpec, Job } from "../../api/generated/types/batch-v1.ts";
import { planHistory, readJobs } from "./active-jobs.ts";
import { newJob } from "./new-job.ts";
import { planRun } from "./plan-run.ts";

const CREATED = "2026-01-01T00:00:00Z";

function cronJob(spec: Partial<CronJobSpec>, lastScheduleTime?: string): CronJob {
  const metadata = { name: "nightly", uid: "1", resourceVersion: "1", creationTimestamp: CREATED };
  const jobTemplate = { metadata: {}, spec: { template: { metadata: {}, spec: { containers: [] } } } };
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata,
    spec: { schedule: "0 * * * *", jobTemplate, ...spec },
    status: { ...(lastScheduleTime !== undefined && { lastScheduleTime }) },
  };
}

function plan(spec: Partial<CronJobSpec>, now: string, last?: string) {
  const found = planRun(cronJob(spec, last), Date.parse(now));
  return found.type === "due" ? { ...found, at: new Date(found.at).toISOString() } : found;
}

describe("the run of a CronJob", () => {
  test("waits until shortly after the first time", () => {
    expect(plan({}, "2026-01-01T00:59:00Z")).toEqual({ type: "later", recheckAfterMs: 60_100 });
  });

  test("is due for the last of several missed times", () => {
    expect(plan({}, "2026-01-01T03:20:00Z")).toEqual({
      type: "due",
      at: "2026-01-01T03:00:00.000Z",
      isTooLate: false,
      areTooManyMissed: false,
      recheckAfterMs: 40 * 60_000 + 100,
    });
  });

  test("is not due again for a handled time", () => {
    expect(plan({}, "2026-01-01T03:20:00Z", "2026-01-01T03:00:00Z").type).toBe("later");
  });

  test("is not due after the starting deadline", () => {
    expect(plan({ startingDeadlineSeconds: 600 }, "2026-01-01T03:09:00Z").type).toBe("due");
    expect(plan({ startingDeadlineSeconds: 600 }, "2026-01-01T03:11:00Z").type).toBe("later");
  });

  test.each([
    ["2026-01-05T04:00:00Z", false],
    ["2026-01-05T05:00:00Z", false],
    ["2026-01-05T06:00:00Z", true],
  ])("at %s has missed too many: %s", (now, expected) => {
    expect(plan({}, now)).toMatchObject({ areTooManyMissed: expected });
  });

  test("is never due while suspended or with an invalid schedule or zone, and reports the problem", () => {
    const now = "2026-01-01T03:20:00Z";

    expect(plan({ suspend: true }, now)).toEqual({ type: "never" });
    expect(plan({ timeZone: "Mars/Base" }, now)).toMatchObject({ problem: { reason: "UnknownTimeZone" } });
    expect(plan({ schedule: "soon" }, now)).toMatchObject({ problem: { reason: "UnparseableSchedule" } });
  });

  test("reports a date that does not exist as an invalid schedule and is never rechecked", () => {
    const message =
      "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second";

    expect(plan({ schedule: "59 23 31 2 *" }, "2026-01-01T03:20:00Z")).toEqual({
      type: "never",
      problem: { reason: "InvalidSchedule", message },
    });
    expect(plan({ schedule: "59 23 31 2 *", suspend: true }, "2026-01-01T03:20:00Z")).toEqual({
      type: "never",
    });
  });

  test("continues an interval from the last time, not from now", () => {
    const last = "2026-01-01T00:10:00Z";

    expect(plan({ schedule: "@every 10m" }, "2026-01-01T00:19:00Z", last)).toMatchObject({
      recheckAfterMs: 60_100,
    });
    expect(plan({ schedule: "@every 10m" }, "2026-01-01T00:45:00Z", last)).toMatchObject({
      at: "2026-01-01T00:40:00.000Z",
    });
  });
});

describe("the Job of a scheduled time", () => {
  test("is named by the minute and records the time in its zone", () => {
    const { metadata } = newJob(
      cronJob({ timeZone: "America/New_York" }),
      Date.parse("2026-07-01T12:00:00Z"),
    );

    expect(metadata?.name).toBe(`nightly-${String(Date.parse("2026-07-01T12:00:00Z") / 60_000)}`);
    expect(metadata?.annotations).toEqual({
      "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-07-01T08:00:00-04:00",
    });
  });
});

function jobOf(name: string, ending?: "Complete" | "Failed", startTime?: string): Job {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: CREATED };
  const { template } = cronJob({}).spec.jobTemplate.spec;
  const conditions = ending === undefined ? [] : [{ type: ending, status: "True" }];
  const times = { ...(startTime !== undefined && { startTime, completionTime: startTime }) };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata,
    spec: { template },
    status: { conditions, ...times },
  };
}

describe("the Jobs of a CronJob", () => {
  test("are sorted by their state", () => {
    const active = ["a", "b", "c"].map((name) => ({ name, uid: name }));
    const known = { ...cronJob({}), status: { active } };

    const news = readJobs(known, [jobOf("a"), jobOf("b", "Complete", "2026-01-01T01:00:00Z"), jobOf("d")]);

    expect(news.active.map(({ name }) => name)).toEqual(["a"]);
    expect(news.ended.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    expect(news.missing.map(({ name }) => name)).toEqual(["c"]);
    expect(news.unexpected.map(({ metadata }) => metadata.name)).toEqual(["d"]);
    expect(news.lastSuccessfulTime).toBe("2026-01-01T01:00:00Z");
  });

  test("are deleted oldest first, separately for each result", () => {
    const jobs = [
      jobOf("c2", "Complete", "2026-01-01T02:00:00Z"),
      jobOf("c1", "Complete", "2026-01-01T01:00:00Z"),
      jobOf("f1", "Failed", "2026-01-01T01:00:00Z"),
      jobOf("at-work"),
    ];

    const old = planHistory(cronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), jobs);

    expect(old.map(({ metadata }) => metadata.name)).toEqual(["c1", "f1"]);
  });
});
