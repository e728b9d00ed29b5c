import { describe, expect, test } from "vitest";
import { CronJob, Job } from "../../src/api/generated/types/batch-v1.ts";
import type { CronJobSpec } from "../../src/api/generated/types/batch-v1.ts";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import { timeText } from "../../src/api/values/time.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";
import { isActive } from "../../src/resources/pod/pod-state.ts";
import { ownerReferenceTo } from "../../src/runtime/refs/owner-reference.ts";

const LOOPS = ["cronjob-controller", "job-controller", "job-orphan-pods-controller"];
const HOUR_MS = 3_600_000;

describe.each([1, 2, 3])("a CronJob, seed %s", (seed) => {
  test("starts a Job at each of its times, and says which are at work and when the last one succeeded", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *" });
    await cluster.settle();
    expect(jobs(cluster)).toEqual([]);

    await toFullHour(cluster);
    await cluster.clock.advance("1m");
    const [job] = jobs(cluster);
    const hour = Math.floor(cluster.clock.now() / HOUR_MS) * HOUR_MS;
    const time = timeText(hour);
    expect(job?.metadata.name).toBe(`nightly-${String(hour / 60_000)}`);
    expect(job?.metadata.annotations).toMatchObject({
      "batch.kubernetes.io/cronjob-scheduled-timestamp": time,
      note: "kept",
    });
    expect(cronJob(cluster).status).toMatchObject({
      lastScheduleTime: time,
      active: [{ apiVersion: "batch/v1", kind: "Job", name: job?.metadata.name, uid: job?.metadata.uid }],
    });

    await finishAll(cluster, "Succeeded");

    expect(cronJob(cluster).status.active).toBeUndefined();
    expect(cronJob(cluster).status.lastSuccessfulTime).toBe(jobs(cluster)[0]?.status.completionTime);
    expect(reasons(cluster)).toEqual(expect.arrayContaining(["SuccessfulCreate", "SawCompletedJob"]));
  });

  test("keeps as many old Jobs of each kind as it says", async () => {
    await using cluster = await start(seed);
    await create(cluster, {
      schedule: "0 * * * *",
      successfulJobsHistoryLimit: 2,
      failedJobsHistoryLimit: 1,
    });

    await cluster.clock.advance("1m");
    for (let round = 0; round < 8; round++) {
      await cluster.clock.advance("1h");
      await finishAll(cluster, round % 2 === 0 ? "Succeeded" : "Failed");
    }

    expect(endings(cluster)).toEqual({ Complete: 2, Failed: 1 });
    const names = jobs(cluster).map(({ metadata }) => Number(metadata.name.split("-")[1]));
    expect(Math.max(...names) - Math.min(...names)).toBe(3 * 60);
  });

  test("lets Jobs run side by side unless it forbids or replaces them", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *", concurrencyPolicy: "Allow" }, "allow");
    await create(cluster, { schedule: "0 * * * *", concurrencyPolicy: "Forbid" }, "forbid");
    await create(cluster, { schedule: "0 * * * *", concurrencyPolicy: "Replace" }, "replace");

    await cluster.clock.advance("3h1m");
    const of = (name: string): readonly Job[] =>
      jobs(cluster).filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name);

    expect([of("allow").length, of("forbid").length, of("replace").length]).toEqual([3, 1, 1]);
    expect(reasons(cluster)).toEqual(expect.arrayContaining(["JobAlreadyActive", "SuccessfulDelete"]));
    const newest = of("allow").at(-1)?.metadata.name.split("-")[1];
    expect(of("replace")[0]?.metadata.name).toBe(`replace-${newest ?? ""}`);
    expect(of("forbid")[0]?.metadata.name).not.toBe(`forbid-${newest ?? ""}`);
  });

  test("that forbids a second Job starts the one it missed when the first has ended", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *", concurrencyPolicy: "Forbid" });
    await cluster.clock.advance("2h30m");
    expect(jobs(cluster)).toHaveLength(1);

    await finishAll(cluster, "Succeeded");

    expect(jobs(cluster)).toHaveLength(2);
  });

  test("starts nothing that is later than its deadline", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    await create(cluster, { schedule: "0 * * * *", startingDeadlineSeconds: 600 });
    await toFullHour(cluster);
    const look = async (): Promise<number> => {
      const loops = cluster.run(builtInLoops(LOOPS));
      await cluster.settle();
      await loops.stop();
      return jobs(cluster).length;
    };

    await cluster.clock.advance("11m");
    expect(await look()).toBe(0);
    await cluster.clock.advance("58m");
    expect(await look()).toBe(1);
  });

  test("makes one Job for all the times it missed, and tells when they are many", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    await create(cluster, { schedule: "*/5 * * * *" });
    await cluster.clock.advance("10h");

    cluster.run(builtInLoops(LOOPS));
    await cluster.settle();

    expect(jobs(cluster)).toHaveLength(1);
    expect(reasons(cluster)).toContain("TooManyMissedTimes");
  });

  test("starts nothing while it is suspended, and the last missed one when it goes on", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *", suspend: true });
    await cluster.clock.advance("5h");
    expect(jobs(cluster)).toEqual([]);

    await cluster
      .client(CronJob)
      .patch({ name: "nightly" }, { type: "merge", changes: { spec: { suspend: false } } });
    await cluster.settle();

    expect(jobs(cluster)).toHaveLength(1);
  });

  test("goes by the clock of its time zone", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 9 * * *", timeZone: "Asia/Kolkata" });

    await cluster.clock.advance("24h");

    const [job] = jobs(cluster);
    const stamp = job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"];
    expect(stamp).toMatch(/T09:00:00\+05:30$/);
  });

  test("goes on at once with a new schedule", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 0 1 1 *" });
    await cluster.settle();

    await cluster
      .client(CronJob)
      .patch({ name: "nightly" }, { type: "merge", changes: { spec: { schedule: "* * * * *" } } });
    await cluster.clock.advance("61s");

    expect(jobs(cluster)).toHaveLength(1);
  });

  test("goes on when a user has noted a Job without a name", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *" });
    await cluster.settle();
    const nameless = { apiVersion: "batch/v1", kind: "Job", namespace: "default", uid: "1" };

    await cluster.client(CronJob).updateStatus(cronJob(cluster), { active: [nameless] });
    await cluster.settle();

    expect(cronJob(cluster).status.active).toBeUndefined();
    expect(reasons(cluster)).toContain("MissingJob");
  });

  test("forgets a Job that went missing", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *", concurrencyPolicy: "Forbid" });
    await cluster.clock.advance("1h1m");

    await cluster.client(Job).delete(jobs(cluster)[0] as Job, { propagationPolicy: "Background" });
    await cluster.settle();

    expect(cronJob(cluster).status.active).toBeUndefined();
    expect(jobs(cluster)).toEqual([]);
    expect(reasons(cluster)).toContain("MissingJob");
  });

  test.each(["Forbid", "Replace"] as const)(
    "that says %s tells of a Job that somebody started by hand, and neither waits for it nor replaces it",
    async (concurrencyPolicy) => {
      await using cluster = await start(seed);
      await create(cluster, { schedule: "0 * * * *", concurrencyPolicy });
      await cluster.client(Job).create({
        metadata: { name: "by-hand", ownerReferences: [ownerReferenceTo(cronJob(cluster))] },
        spec: cronJob(cluster).spec.jobTemplate.spec,
      });
      await cluster.settle();
      expect(cronJob(cluster).status.active).toBeUndefined();
      expect(reasons(cluster)).toContain("UnexpectedJob");

      await toFullHour(cluster);
      await cluster.clock.advance("1m");

      const [byHand, scheduled, ...more] = jobs(cluster).map(({ metadata }) => metadata.name);
      expect([byHand, more]).toEqual(["by-hand", []]);
      expect(scheduled).toMatch(/^nightly-\d+$/);
      expect(cronJob(cluster).status.active).toMatchObject([{ name: scheduled }]);
    },
  );

  test("that is suspended forgets a Job that ends, also one that lost its owner", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 * * * *" });
    await toFullHour(cluster);
    await cluster.clock.advance("1m");
    const [job] = jobs(cluster);
    const orphaned = { type: "merge", changes: { metadata: { ownerReferences: null } } } as const;
    await cluster.client(Job).patch(job as Job, orphaned);
    const suspended = { type: "merge", changes: { spec: { suspend: true } } } as const;
    await cluster.client(CronJob).patch(cronJob(cluster), suspended);
    await cluster.settle();
    expect(cronJob(cluster).status.active).toHaveLength(1);

    await finishAll(cluster, "Succeeded");

    expect(cronJob(cluster).status.active).toBeUndefined();
  });

  test("makes each Job once although its loop is stopped right after it", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    await create(cluster, { schedule: "0 * * * *" });
    for (let round = 1; round <= 4; round++) {
      await cluster.clock.advance("1h");
      const loops = cluster.run(builtInLoops(LOOPS));
      await cluster.until(() => jobs(cluster).length === round);
      await loops.stop();
    }
    cluster.run(builtInLoops(LOOPS));
    await cluster.settle();

    expect(jobs(cluster)).toHaveLength(4);
    expect(cronJob(cluster).status.active).toHaveLength(4);
  });

  test("is not touched between its times", async () => {
    await using cluster = await start(seed);
    await create(cluster, { schedule: "0 0 1 1 *" });
    await cluster.settle();
    const before = cluster.objects(CronJob);

    await cluster.clock.advance("24h");

    expect(cluster.objects(CronJob)).toEqual(before);
  });
});

describe("a CronJob in a whole cluster", () => {
  test("has its Jobs run, and their pods go with old ones", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 1 });
    await create(cluster, { schedule: "*/10 * * * *", successfulJobsHistoryLimit: 2 });

    await cluster.clock.advance("1h5m");

    expect(endings(cluster)).toEqual({ Complete: 2, Failed: 0 });
    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual([
      "Succeeded",
      "Succeeded",
    ]);
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

async function create(
  cluster: Cluster,
  spec: Partial<CronJobSpec> & Pick<CronJobSpec, "schedule">,
  name = "nightly",
): Promise<void> {
  const containers = [{ name: "work", image: "work:1" }];
  const template = { spec: { restartPolicy: "Never", containers } } as const;
  const jobTemplate = { metadata: { annotations: { note: "kept" } }, spec: { template, backoffLimit: 0 } };
  await cluster.client(CronJob).create({ metadata: { name }, spec: { jobTemplate, ...spec } });
}

function cronJob(cluster: Cluster): CronJob {
  const [found] = cluster.objects(CronJob);
  if (found === undefined) throw new Error("the CronJob is gone");
  return found;
}

function jobs(cluster: Cluster): readonly Job[] {
  return cluster.objects(Job, "default");
}

function reasons(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ reason }) => reason);
}

function endings(cluster: Cluster): Readonly<Record<string, number>> {
  const types = jobs(cluster).map(({ status }) => status.conditions?.at(-1)?.type ?? "");
  const count = (type: string): number => types.filter((each) => each === type).length;
  return { Complete: count("Complete"), Failed: count("Failed") };
}

/** Advances the clock to just before the full hour. */
async function toFullHour(cluster: Cluster): Promise<void> {
  await cluster.clock.advance(HOUR_MS - (cluster.clock.now() % HOUR_MS));
}

async function finishAll(cluster: Cluster, phase: "Failed" | "Succeeded"): Promise<void> {
  await cluster.settle();
  for (const pod of cluster.objects(Pod, "default").filter(isActive))
    await cluster.client(Pod).updateStatus(pod, { phase });
  await cluster.settle();
}
