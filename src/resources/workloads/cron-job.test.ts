import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { cronJob } from "./cron-job.ts";
import { findScheduleProblem } from "./cron-schedule.ts";

const probe = new KindProbe(cronJob);

const withSpec = (more: Manifest = {}, job: Manifest = {}): Manifest => {
  const template = { spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never" } };
  return { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template, ...job } }, ...more } };
};

describe("a CronJob", () => {
  test("is active and allows concurrent jobs by default", () => {
    const created = probe.created(withSpec());

    expect(created).toMatchObject({
      spec: {
        concurrencyPolicy: "Allow",
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        jobTemplate: { spec: { template: { spec: { dnsPolicy: "ClusterFirst" } } } },
      },
    });
    expect(created).not.toHaveProperty("spec.jobTemplate.spec.completions");
  });

  test.each<[Manifest, Manifest, readonly string[]]>([
    [{}, {}, []],
    [{ timeZone: "Europe/Berlin" }, {}, []],
    [{ schedule: "" }, {}, ["spec.schedule: Required value"]],
    [
      { schedule: "TZ=UTC 0 0 * * *" },
      {},
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [{ timeZone: "" }, {}, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
    [
      { timeZone: "Mars/Olympus" },
      {},
      ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
    ],
    [
      { timeZone: "Local" },
      {},
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [
      { concurrencyPolicy: "Maybe" },
      {},
      ['spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      {},
      { manualSelector: true },
      ['spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'],
    ],
    [
      { startingDeadlineSeconds: -1 },
      {},
      ["spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"],
    ],
  ])("with %o and job %o", (spec, job, problems) => {
    expect(probe.problems(withSpec(spec, job))).toEqual(problems);
  });

  test("has a name short enough for the names of its jobs", () => {
    expect(probe.nameProblems("x".repeat(52))).toEqual([]);
    expect(probe.nameProblems("x".repeat(53))).toEqual(["must be no more than 52 characters"]);
  });

  test("shows its schedule", () => {
    const status = { lastScheduleTime: "2026-01-02T03:04:00Z", active: [{}] };

    expect(probe.cells({ ...withSpec(), status })).toEqual([
      "it",
      "*/5 * * * *",
      "<none>",
      "False",
      1,
      "5s",
      "2m5s",
      "main",
      "busybox",
      "<none>",
    ]);
  });
});

describe("a schedule", () => {
  test.each([
    "* * * * *",
    "*/15 0-5,20 1,15 jan-mar MON-FRI",
    "0 0 ? * 0",
    "5/10 * * * *",
    "@daily",
    "@every 1h30m",
    "CRON_TZ=UTC 0 0 * * *",
  ])("%s is valid", (schedule) => {
    expect(findScheduleProblem(schedule)).toBeUndefined();
  });

  test.each([
    ["", "empty spec string"],
    ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"],
    ["a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["*/1/2 * * * *", "too many slashes: */1/2"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["@sometimes", "unrecognized descriptor: @sometimes"],
    ["@every x", 'failed to parse duration @every x: time: invalid duration "x"'],
  ])("%s is refused", (schedule, problem) => {
    expect(findScheduleProblem(schedule)).toBe(problem);
  });

  test("above the length limit is refused", () => {
    const minutes = (count: number): string => `${Array<string>(count).fill("0").join(",")} * * * *`;

    expect(findScheduleProblem(minutes(4900))).toBeUndefined();
    expect(findScheduleProblem(minutes(5100))).toBe("may not be longer than 10000 characters");
  });
});
