import { describe, expect, test } from "vitest";
import { Job } from "../../src/api/generated/types/batch-v1.ts";
import { Pod, ResourceQuota } from "../../src/api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../src/api/generated/types/meta-v1.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";
import { ownerReferenceTo } from "../../src/runtime/refs/owner-reference.ts";
import {
  LOOPS,
  start,
  create,
  job,
  pods,
  active,
  conditions,
  end,
  succeed,
  fail,
  reasons,
} from "./job-fixture.ts";

const TRACKING = "batch.kubernetes.io/job-tracking";

describe.each([1, 2, 3])("a Job, seed %s", (seed) => {
  test("counts pods that vanish as failed, each once", async () => {
    await using cluster = await start(seed);
    await create(cluster, { backoffLimit: 10 });
    for (let round = 0; round < 3; round++) {
      await cluster.settle();
      await cluster.client(Pod).delete(active(cluster)[0] as Pod);
    }
    await cluster.settle();

    expect(job(cluster).status).toMatchObject({ active: 1, failed: 3, uncountedTerminatedPods: {} });
    expect(pods(cluster)).toHaveLength(1);
  });

  test("lets its pods go when it is deleted before they have ended", async () => {
    await using cluster = await start(seed);
    const made = await create(cluster, { parallelism: 3, completions: 3 });
    await cluster.settle();

    await cluster.client(Job).delete(made);
    await cluster.settle();
    expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });

  test("counts every pod exactly once although its loop is stopped again and again", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    await create(cluster, { parallelism: 7, completions: 40 });
    for (let round = 0; conditions(cluster).length < 2; round++) {
      expect(round).toBeLessThan(200);
      const loops = cluster.run(builtInLoops(LOOPS));
      const version = job(cluster).metadata.resourceVersion;
      // Stops at the first write, which is somewhere in the middle of a pass.
      await cluster.until(() => job(cluster).metadata.resourceVersion !== version, { within: "1h" });
      await loops.stop();
      for (const pod of active(cluster)) await succeed(cluster, pod);
    }

    expect(job(cluster).status).toMatchObject({ succeeded: 40, uncountedTerminatedPods: {} });
    expect(pods(cluster).filter(({ status }) => status.phase === "Succeeded")).toHaveLength(40);
  });
});

describe.each([1, 2, 3, 4, 5, 6])("a Job among people who do what they like, seed %s", (seed) => {
  test("comes to exact numbers", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    const random = seededRandom("people", seed);
    await create(cluster, { parallelism: 6, completions: 20, backoffLimit: 1000 });
    let loops = cluster.run(builtInLoops(LOOPS));
    let failures = 0;
    const deeds: readonly ((pod: Pod) => Promise<void>)[] = [
      (pod) => succeed(cluster, pod),
      (pod) => {
        failures++;
        return fail(cluster, pod);
      },
      (pod) => {
        failures++;
        return cluster.client(Pod).delete(pod);
      },
      (pod) => annotate(cluster, `saw ${pod.metadata.name}`),
      () => cluster.clock.advance(random.below(60_000)),
      async () => {
        await loops.stop();
        loops = cluster.run(builtInLoops(LOOPS));
      },
    ];
    for (let step = 0; step < 60; step++) {
      await cluster.until(() => active(cluster).length > 0 || conditions(cluster).length > 0, {
        within: "1h",
      });
      const living = active(cluster);
      const pod = living[random.below(Math.max(1, living.length))];
      if (pod !== undefined) await deeds[random.below(deeds.length)]?.(pod);
    }
    for (let round = 0; round < 40 && conditions(cluster).length < 2; round++) {
      await cluster.settle({ within: "1h" });
      for (const pod of active(cluster)) await succeed(cluster, pod);
    }
    await cluster.settle();

    expect(conditions(cluster)).toContain("Complete: CompletionsReached");
    expect(job(cluster).status).toMatchObject({ succeeded: 20, terminating: 0, uncountedTerminatedPods: {} });
    expect(job(cluster).status.failed ?? 0).toBe(failures);
    expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });
});

async function annotate(cluster: Cluster, note: string): Promise<void> {
  const changes = { metadata: { annotations: { note } } };
  await cluster.client(Job).patch({ name: "work" }, { type: "merge", changes });
}

describe("a Job", () => {
  test("fails when too many of its indexes have", async () => {
    await using cluster = await start(1);
    await create(cluster, {
      completions: 4,
      parallelism: 2,
      completionMode: "Indexed",
      backoffLimitPerIndex: 0,
      maxFailedIndexes: 1,
    });
    for (let round = 0; round < 2; round++) {
      await cluster.settle();
      await fail(cluster, active(cluster)[0] as Pod);
    }
    await cluster.settle();

    expect(conditions(cluster)).toContain("Failed: MaxFailedIndexesExceeded");
    expect(job(cluster).status.failedIndexes).toBe("0,1");
    expect(active(cluster)).toEqual([]);
  });

  test("counts the restarts of containers that its pods restart themselves", async () => {
    await using cluster = await start(1);
    const containers = [{ name: "work", image: "work:1" }];
    await create(cluster, {
      backoffLimit: 2,
      template: { spec: { containers, restartPolicy: "OnFailure" } },
    });
    await cluster.settle();
    const restarted = (restartCount: number) => ({
      phase: "Running" as const,
      containerStatuses: [
        { name: "work", image: "", imageID: "", ready: false, restartCount, lastState: {}, state: {} },
      ],
    });

    await end(cluster, active(cluster)[0] as Pod, restarted(1));
    await cluster.settle();
    expect(conditions(cluster)).toEqual([]);
    await end(cluster, active(cluster)[0] as Pod, restarted(2));
    await cluster.settle();

    expect(conditions(cluster)).toContain("Failed: BackoffLimitExceeded");
  });

  test("releases a pod that a user takes away, and creates another", async () => {
    await using cluster = await start(1);
    await create(cluster, {});
    await cluster.settle();
    const [taken] = active(cluster);

    const labels = { "batch.kubernetes.io/controller-uid": "other" };
    await cluster.client(Pod).patch(taken as Pod, { type: "merge", changes: { metadata: { labels } } });
    await cluster.settle();

    const left = await cluster.client(Pod).get(taken as Pod);
    expect([left.metadata.ownerReferences, left.metadata.finalizers]).toEqual([undefined, undefined]);
    expect(active(cluster)).toHaveLength(2);
    expect(job(cluster).status).toMatchObject({ active: 1 });
  });

  test("that has finished does not keep a pod that is deleted afterwards", async () => {
    await using cluster = await start(1);
    await create(cluster, {});
    await cluster.settle();
    await succeed(cluster, active(cluster)[0] as Pod);
    await cluster.settle();
    expect(conditions(cluster)).toContain("Complete: CompletionsReached");

    await createTracked(cluster, ownerReferenceTo(job(cluster)));
    await cluster.settle();
    expect((await cluster.client(Pod).get({ name: "late" })).metadata.finalizers).toEqual([TRACKING]);
    await cluster.client(Pod).delete({ name: "late" });
    await cluster.settle();

    expect(await cluster.client(Pod).find({ name: "late" })).toBeUndefined();
  });

  test("leaves the finalizer of a pod alone that something else controls", async () => {
    await using cluster = await start(1);
    const owner = { apiVersion: "example.com/v1", kind: "Job", name: "other", uid: "4d2f6f6e" };
    await createTracked(cluster, { ...owner, controller: true });
    await cluster.settle();

    expect((await cluster.client(Pod).get({ name: "late" })).metadata.finalizers).toEqual([TRACKING]);
  });

  test("is at an exact end after it failed with its loop being stopped again and again", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, loops: "none" });
    await create(cluster, { parallelism: 5, completions: 5, backoffLimit: 3 });
    for (let round = 0; round < 100 && conditions(cluster).length < 2; round++) {
      const loops = cluster.run(builtInLoops(LOOPS));
      const version = job(cluster).metadata.resourceVersion;
      await cluster.until(() => job(cluster).metadata.resourceVersion !== version, { within: "1h" });
      await loops.stop();
      const [next] = active(cluster);
      if (next !== undefined) await fail(cluster, next);
    }

    expect(conditions(cluster)).toContain("Failed: BackoffLimitExceeded");
    expect(active(cluster)).toEqual([]);
    expect(job(cluster).status.failed).toBeGreaterThanOrEqual(4);
    expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  });
});

describe("a Job in a whole cluster", () => {
  test("whose pods a quota refuses says so, and goes on when there is room", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 2 });
    await cluster.client(ResourceQuota).create({ metadata: { name: "few" }, spec: { hard: { pods: "0" } } });
    await cluster.settle();
    await create(cluster, { parallelism: 3, completions: 3 });
    await cluster.clock.advance("1m");
    expect(reasons(cluster)).toContain("FailedCreate");
    expect(pods(cluster)).toEqual([]);

    await cluster
      .client(ResourceQuota)
      .patch({ name: "few" }, { type: "merge", changes: { spec: { hard: { pods: "10" } } } });
    await cluster.clock.advance("20m");

    expect(conditions(cluster)).toContain("Complete: CompletionsReached");
  });

  test("runs to its end by itself, and takes its pods with it", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 2 });
    const made = await create(cluster, { completions: 6, parallelism: 3 });
    await cluster.settle();
    expect(conditions(cluster)).toContain("Complete: CompletionsReached");
    expect(pods(cluster)).toHaveLength(6);

    await cluster.client(Job).delete(made, { propagationPolicy: "Foreground" });
    await cluster.settle();

    expect([cluster.objects(Job), pods(cluster)]).toEqual([[], []]);
  });

  test.each(["Background", "Foreground", "Orphan"] as const)(
    "leaves no pod behind that cannot go when it is deleted half-way: %s",
    async (propagationPolicy) => {
      await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 2 });
      const containers = [{ name: "work", image: "work:1", command: ["sleep", "3600"] }];
      const template = { spec: { containers, restartPolicy: "Never" } } as const;
      const made = await create(cluster, { completions: 4, parallelism: 4, template });
      await cluster.until(() => job(cluster).status.ready === 4, { within: "1m" });

      await cluster.client(Job).delete(made, { propagationPolicy });
      await cluster.clock.advance("2m");

      expect(cluster.objects(Job)).toEqual([]);
      expect(pods(cluster)).toHaveLength(propagationPolicy === "Orphan" ? 4 : 0);
      expect(pods(cluster).flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    },
  );
});

async function createTracked(cluster: Cluster, owner: OwnerReference): Promise<void> {
  await cluster.client(Pod).create({
    metadata: { name: "late", finalizers: [TRACKING], ownerReferences: [owner] },
    spec: { containers: [{ name: "work", image: "work:1" }] },
  });
}
