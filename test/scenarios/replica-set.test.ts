import { describe, expect, test } from "vitest";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Event, Pod, ReplicationController } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";

const SELECTOR = { matchLabels: { app: "web" } };
const TEMPLATE = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};
const LOOPS = ["replicaset-controller", "replication-controller"];

describe.each([1, 2, 3])("a ReplicaSet, seed %s", (seed) => {
  test("gets its pods, and new ones for those that are deleted or fail", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await create(cluster, 3);
    await cluster.settle();
    const [first, second] = pods(cluster);
    expect(pods(cluster)).toHaveLength(3);

    await cluster.client(Pod).delete(first as Pod);
    await cluster.client(Pod).updateStatus(second as Pod, { phase: "Failed" });
    await cluster.settle();

    const alive = pods(cluster).filter(({ status }) => status.phase !== "Failed");
    expect(alive).toHaveLength(3);
    expect(alive.map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid);
  });

  test("shows what is there in its status, and tells in Events what was done", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await create(cluster, 2);
    await cluster.settle();
    for (const pod of pods(cluster)) await makeReady(cluster, pod);
    await cluster.settle();

    const [rs] = cluster.objects(ReplicaSet);
    expect(rs?.status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
    expect(reasons(cluster)).toEqual(["SuccessfulCreate", "SuccessfulCreate"]);
  });

  test("deletes what is too much, and says so", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    const rs = await create(cluster, 5);
    await cluster.settle();
    const [kept] = pods(cluster);
    await makeReady(cluster, kept as Pod);

    await cluster.client(ReplicaSet).scale(rs, 1);
    await cluster.settle();

    expect(pods(cluster).map(({ metadata }) => metadata.name)).toEqual([kept?.metadata.name]);
    expect(reasons(cluster).filter((reason) => reason === "SuccessfulDelete")).toHaveLength(4);
  });

  test("adopts orphans that match, and lets go of pods that no longer do", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await cluster.client(Pod).create({ ...TEMPLATE, metadata: { name: "stray", labels: { app: "web" } } });
    await create(cluster, 1);
    await cluster.settle();
    expect(pods(cluster).map(({ metadata }) => metadata.name)).toEqual(["stray"]);

    await cluster
      .client(Pod)
      .patch({ name: "stray" }, { type: "merge", changes: { metadata: { labels: { app: "other" } } } });
    await cluster.settle();

    const stray = await cluster.client(Pod).get({ name: "stray" });
    expect(stray.metadata.ownerReferences).toBeUndefined();
    expect(pods(cluster)).toHaveLength(2);
  });

  test("never takes a pod that another object controls", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await create(cluster, 2, "one");
    await create(cluster, 2, "two");
    await cluster.settle();

    const ownedBy = (name: string): readonly Pod[] =>
      pods(cluster).filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name);
    expect([ownedBy("one").length, ownedBy("two").length]).toEqual([2, 2]);
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await create(cluster, 3);
    await cluster.settle();
    const before = cluster.objects(ReplicaSet);

    await cluster.clock.advance("2h");

    expect(cluster.objects(ReplicaSet)).toEqual(before);
  });

  test("has exactly its pods after its loop was stopped half-way", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    const first = cluster.run(builtInLoops(LOOPS));
    await create(cluster, 50);
    await cluster.until(() => pods(cluster).length >= 7);
    await first.stop();
    expect(pods(cluster).length).toBeLessThan(50);

    cluster.run(builtInLoops(LOOPS));
    await cluster.settle();

    expect(pods(cluster)).toHaveLength(50);
  });
});

describe("a ReplicationController", () => {
  test("does the same with labels in place of a selector", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, loops: LOOPS });
    await cluster.client(ReplicationController).create({
      metadata: { name: "web" },
      spec: { replicas: 2, selector: { app: "web" }, template: TEMPLATE },
    });

    await cluster.settle();

    expect(pods(cluster)).toHaveLength(2);
    expect(cluster.objects(ReplicationController)[0]?.status).toMatchObject({
      replicas: 2,
      observedGeneration: 1,
    });
  });
});

function create(cluster: Cluster, replicas: number, name = "web"): Promise<ReplicaSet> {
  return cluster
    .client(ReplicaSet)
    .create({ metadata: { name }, spec: { replicas, selector: SELECTOR, template: TEMPLATE } });
}

function pods(cluster: Cluster): readonly Pod[] {
  return cluster.objects(Pod, "default");
}

function reasons(cluster: Cluster): readonly string[] {
  return cluster
    .objects(Event, "default")
    .flatMap(({ reason, count = 1 }) => Array<string>(count).fill(reason ?? ""));
}

async function makeReady(cluster: Cluster, pod: Pod): Promise<void> {
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString();
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime }];
  await cluster.client(Pod).updateStatus(pod, { phase: "Running", conditions });
}
