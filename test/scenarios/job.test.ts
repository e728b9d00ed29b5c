import { describe, expect, test } from "vitest";
import { Job } from "../../src/api/generated/types/batch-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import {
  start,
  create,
  change,
  job,
  pods,
  active,
  indexes,
  conditions,
  reasons,
  end,
  succeed,
  fail,
  place,
  endAll,
} from "./job-fixture.ts";

const TRACKING = "batch.kubernetes.io/job-tracking";
const INDEX = "batch.kubernetes.io/job-completion-index";

describe.each([1, 2, 3])("a Job, seed %s", (seed) => {
  test("runs as many pods at a time as it may until as many as it wants have succeeded", async () => {
    await using cluster = await start(seed);
    await create(cluster, { completions: 5, parallelism: 2 });
    await cluster.settle();
    expect(active(cluster)).toHaveLength(2);
    expect(active(cluster).every(({ metadata }) => metadata.finalizers?.includes(TRACKING))).toBe(true);
    expect(job(cluster).status).toMatchObject({ active: 2, ready: 0, terminating: 0 });

    const most = await endAll(cluster, succeed);

    expect(most).toBe(2);
    expect(pods(cluster).map(({ status }) => status.phase)).toEqual(Array(5).fill("Succeeded"));
    expect(job(cluster).status).toMatchObject({
      ready: 0,
      terminating: 0,
      succeeded: 5,
      uncountedTerminatedPods: {},
      conditions: [
        {
          type: "SuccessCriteriaMet",
          status: "True",
          reason: "CompletionsReached",
          message: "Reached expected number of succeeded pods",
        },
        { type: "Complete", status: "True", reason: "CompletionsReached" },
      ],
    });
    expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(reasons(cluster)).toEqual([...Array<string>(5).fill("SuccessfulCreate"), "Completed"]);
  });

  test("without a number of completions is done when one pod has succeeded and the others have ended", async () => {
    await using cluster = await start(seed);
    await create(cluster, { parallelism: 3 });
    await cluster.settle();
    const [first, ...others] = active(cluster);

    await succeed(cluster, first as Pod);
    await cluster.settle();
    expect(conditions(cluster)).toEqual([]);
    expect(active(cluster)).toHaveLength(2);
    for (const pod of others) await succeed(cluster, pod);
    await cluster.settle();

    expect(job(cluster).status.succeeded).toBe(3);
    expect(conditions(cluster)).toContain("Complete: CompletionsReached");
  });

  test("replaces failed pods after 10 s, 20 s, 40 s, and fails beyond its limit", async () => {
    await using cluster = await start(seed);
    await create(cluster, { backoffLimit: 3 });
    const pauses: number[] = [];
    for (let failures = 0; failures < 3; failures++) {
      await cluster.settle();
      await fail(cluster, active(cluster)[0] as Pod);
      const failedAt = cluster.clock.now();
      await cluster.until(() => active(cluster).length === 1, { within: "20m" });
      pauses.push(Math.round((cluster.clock.now() - failedAt) / 1000));
    }
    await fail(cluster, active(cluster)[0] as Pod);
    await cluster.settle();

    expect(pauses).toEqual([10, 20, 40]);
    expect(job(cluster).status).toMatchObject({ failed: 4, uncountedTerminatedPods: {} });
    expect(conditions(cluster)).toEqual([
      "FailureTarget: BackoffLimitExceeded",
      "Failed: BackoffLimitExceeded",
    ]);
    expect(job(cluster).status.conditions?.[1]?.message).toBe("Job has reached the specified backoff limit");
    expect(reasons(cluster)).toContain("BackoffLimitExceeded");
    expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });

  test("stops and counts its other pods when it fails, and says so only when they have ended", async () => {
    await using cluster = await start(seed);
    await create(cluster, { parallelism: 3, completions: 3, backoffLimit: 0 });
    await cluster.settle();
    for (const pod of active(cluster)) await place(cluster, pod);
    const [first, ...others] = active(cluster);

    await fail(cluster, first as Pod);
    await cluster.settle();
    expect(conditions(cluster)).toEqual(["FailureTarget: BackoffLimitExceeded"]);
    expect(job(cluster).status).toMatchObject({ terminating: 2, failed: 3 });
    for (const pod of others) await cluster.client(Pod).delete(pod, { gracePeriodSeconds: 0 });
    await cluster.settle();

    expect(conditions(cluster)).toContain("Failed: BackoffLimitExceeded");
    expect(job(cluster).status).toMatchObject({ terminating: 0, failed: 3 });
  });

  test("that is indexed gives each pod its index, and notes those that are done", async () => {
    await using cluster = await start(seed);
    await create(cluster, { completions: 4, parallelism: 4, completionMode: "Indexed" });
    await cluster.settle();
    const byIndex = (index: number): Pod =>
      active(cluster).find(({ metadata }) => metadata.annotations?.[INDEX] === String(index)) as Pod;
    const second = byIndex(1);
    expect(second.metadata.name).toMatch(/^work-1-[a-z0-9]{5}$/);
    expect(second.metadata.labels?.[INDEX]).toBe("1");
    expect(second.spec.hostname).toBe("work-1");
    expect(second.spec.containers[0]?.env?.[0]).toMatchObject({ name: "JOB_COMPLETION_INDEX" });

    for (const index of [0, 1, 3]) await succeed(cluster, byIndex(index));
    await fail(cluster, byIndex(2));
    await cluster.settle();
    expect(job(cluster).status).toMatchObject({
      completedIndexes: "0,1,3",
      succeeded: 3,
      failed: 1,
      active: 1,
    });
    await succeed(cluster, byIndex(2));
    await cluster.settle();

    expect(job(cluster).status).toMatchObject({ completedIndexes: "0-3", succeeded: 4 });
    expect(conditions(cluster)).toContain("Complete: CompletionsReached");
  });

  test("that is indexed can grow and shrink", async () => {
    await using cluster = await start(seed);
    await create(cluster, { completions: 2, parallelism: 2, completionMode: "Indexed" });
    await cluster.settle();

    await change(cluster, { completions: 5, parallelism: 5 });
    await cluster.settle();
    expect(indexes(cluster)).toEqual(["0", "1", "2", "3", "4"]);
    await change(cluster, { completions: 3, parallelism: 3 });
    await cluster.settle();
    expect(indexes(cluster)).toEqual(["0", "1", "2"]);
    await endAll(cluster, succeed);

    expect(job(cluster).status).toMatchObject({ completedIndexes: "0-2", succeeded: 3 });
    expect(job(cluster).status.failed).toBeUndefined();
  });

  test("with a limit per index gives up single indexes, and fails at the end", async () => {
    await using cluster = await start(seed);
    const spec = {
      completions: 2,
      parallelism: 2,
      completionMode: "Indexed",
      backoffLimitPerIndex: 1,
    } as const;
    await create(cluster, spec);
    await cluster.settle();
    const byIndex = (index: string): Pod | undefined =>
      active(cluster).find(({ metadata }) => metadata.annotations?.[INDEX] === index);

    await fail(cluster, byIndex("1") as Pod);
    await cluster.settle();
    expect(byIndex("1")?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"]).toBe("1");
    await fail(cluster, byIndex("1") as Pod);
    await cluster.settle();
    expect(job(cluster).status).toMatchObject({ failedIndexes: "1", active: 1 });
    await succeed(cluster, byIndex("0") as Pod);
    await cluster.settle();

    expect(conditions(cluster)).toEqual(["FailureTarget: FailedIndexes", "Failed: FailedIndexes"]);
    expect(job(cluster).status).toMatchObject({ completedIndexes: "0", failedIndexes: "1", failed: 2 });
  });

  test("follows its failure policy", async () => {
    await using cluster = await start(seed);
    const rules = [
      { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
      { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
    ] as const;
    await create(cluster, { backoffLimit: 0, podFailurePolicy: { rules } });
    await cluster.settle();

    await end(cluster, active(cluster)[0] as Pod, {
      phase: "Failed",
      conditions: [{ type: "DisruptionTarget", status: "True" }],
    });
    await cluster.settle();
    expect(job(cluster).status).toMatchObject({ active: 1 });
    expect(job(cluster).status.failed).toBeUndefined();
    const [last] = active(cluster);
    await fail(cluster, last as Pod, 42);
    await cluster.settle();

    expect(conditions(cluster)).toEqual(["FailureTarget: PodFailurePolicy", "Failed: PodFailurePolicy"]);
    expect(job(cluster).status.conditions?.[0]?.message).toBe(
      `Container work for pod default/${last?.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
    );
  });

  test("ends early by its success policy, and does not count the pods it stops as failed", async () => {
    await using cluster = await start(seed);
    await create(cluster, {
      completions: 4,
      parallelism: 4,
      completionMode: "Indexed",
      successPolicy: { rules: [{ succeededIndexes: "0,2", succeededCount: 1 }] },
    });
    await cluster.settle();

    const leader = active(cluster).find(({ metadata }) => metadata.annotations?.[INDEX] === "2");
    await succeed(cluster, leader as Pod);
    await cluster.settle();

    expect(conditions(cluster)).toEqual(["SuccessCriteriaMet: SuccessPolicy", "Complete: SuccessPolicy"]);
    expect(job(cluster).status).toMatchObject({ succeeded: 1, completedIndexes: "2" });
    expect(job(cluster).status.failed).toBeUndefined();
    expect(active(cluster)).toEqual([]);
  });

  test("fails when it takes longer than its deadline", async () => {
    await using cluster = await start(seed);
    await create(cluster, { activeDeadlineSeconds: 100 });
    await cluster.settle();

    await cluster.clock.advance("99s");
    expect(conditions(cluster)).toEqual([]);
    await cluster.clock.advance("2s");

    expect(conditions(cluster)).toContain("Failed: DeadlineExceeded");
    expect(pods(cluster)).toEqual([]);
  });

  test("has no pods while it is suspended, and starts anew when it goes on", async () => {
    await using cluster = await start(seed);
    await create(cluster, { activeDeadlineSeconds: 100, parallelism: 2, completions: 2 });
    await cluster.settle();

    await change(cluster, { suspend: true });
    await cluster.settle();
    expect(pods(cluster)).toEqual([]);
    expect(job(cluster).status.startTime).toBeUndefined();
    expect(conditions(cluster)).toEqual(["Suspended: JobSuspended"]);
    await cluster.clock.advance("1h");
    await change(cluster, { suspend: false });
    await cluster.settle();

    expect(active(cluster)).toHaveLength(2);
    expect(conditions(cluster)).toEqual(["Suspended: JobResumed"]);
    expect(Date.parse(job(cluster).status.startTime ?? "")).toBeGreaterThan(cluster.clock.now() - 60_000);
    expect(job(cluster).status.failed).toBeUndefined();
    expect(reasons(cluster)).toEqual(expect.arrayContaining(["Suspended", "Resumed"]));
  });

  test("that waits for the end of its pods has no two at a time", async () => {
    await using cluster = await start(seed);
    await create(cluster, { podReplacementPolicy: "Failed" });
    await cluster.settle();
    const [first] = active(cluster);
    await place(cluster, first as Pod);

    await cluster.client(Pod).delete(first as Pod);
    await cluster.settle();
    expect(active(cluster)).toEqual([]);
    expect(job(cluster).status).toMatchObject({ terminating: 1 });
    await fail(cluster, pods(cluster)[0] as Pod);
    await cluster.settle();

    expect(active(cluster)).toHaveLength(1);
    expect(job(cluster).status).toMatchObject({ failed: 1, terminating: 0 });
  });

  test("is left alone when another controller manages it", async () => {
    await using cluster = await start(seed);
    await create(cluster, { managedBy: "example.com/other" });

    await cluster.settle();

    expect(pods(cluster)).toEqual([]);
    expect(job(cluster).status).toEqual({});
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed);
    await create(cluster, { parallelism: 2, completions: 2, activeDeadlineSeconds: 100_000 });
    await cluster.settle();
    const before = [cluster.objects(Job), pods(cluster)];

    await cluster.clock.advance("3h");

    expect([cluster.objects(Job), pods(cluster)]).toEqual(before);
  });
});
