import { describe, expect, test } from "vitest";
import { ControllerRevision, StatefulSet } from "../../src/api/generated/types/apps-v1.ts";
import type { StatefulSetSpec } from "../../src/api/generated/types/apps-v1.ts";
import { Event, PersistentVolumeClaim, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";
import { isActive, isReady } from "../../src/resources/pod/pod-state.ts";

const LOOPS = ["statefulset-controller"];

describe.each([1, 2, 3])("a StatefulSet, seed %s", (seed) => {
  test("makes its pods one after the other, each with its name, its labels and its claims", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 3, volumeClaimTemplates: [claim("data")] });
    await cluster.settle();
    expect(names(cluster)).toEqual(["web-0"]);

    const seen = await makeAllReady(cluster);

    expect(seen).toEqual([["web-0"], ["web-0", "web-1"], ["web-0", "web-1", "web-2"]]);
    const second = pods(cluster)[1];
    const { updateRevision = "" } = set(cluster).status;
    expect(second?.metadata.labels).toMatchObject({
      app: "web",
      "statefulset.kubernetes.io/pod-name": "web-1",
      "apps.kubernetes.io/pod-index": "1",
      "controller-revision-hash": updateRevision,
    });
    expect(second?.spec).toMatchObject({ hostname: "web-1", subdomain: "peers" });
    expect(second?.spec.volumes?.[0]).toMatchObject({
      name: "data",
      persistentVolumeClaim: { claimName: "data-web-1" },
    });
    expect(claims(cluster)).toEqual(["data-web-0", "data-web-1", "data-web-2"]);
    expect(set(cluster).status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: updateRevision,
      updateRevision,
      collisionCount: 0,
    });
    expect(messages(cluster)).toEqual(
      expect.arrayContaining([
        "create Claim data-web-0 Pod web-0 in StatefulSet web success",
        "create Pod web-0 in StatefulSet web successful",
      ]),
    );
  });

  test("waits without a word while a pod that is not its own has a name that it needs", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 1 });
    await cluster.settle();
    const changes = { metadata: { labels: { app: null } } };
    await cluster.client(Pod).patch({ namespace: "default", name: "web-0" }, { type: "merge", changes });
    await cluster.clock.advance("1m");

    expect(pods(cluster).map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined]);
    expect(messages(cluster).filter((message) => message?.includes("failed"))).toEqual([]);
  });

  test("counts the pods that it made in the same write of its status", async () => {
    const cluster = await start(seed);
    const recorded = recordCounts(cluster);
    await create(cluster, { replicas: 3, podManagementPolicy: "Parallel" });
    await cluster.settle();
    await cluster.stop();

    expect(await recorded).toEqual([0, 3]);
  });

  test("that is parallel makes and deletes all of them at once", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 4, podManagementPolicy: "Parallel", ordinals: { start: 5 } });
    await cluster.settle();
    expect(names(cluster)).toEqual(["web-5", "web-6", "web-7", "web-8"]);

    await cluster.client(StatefulSet).scale({ name: "web" }, 1);
    await cluster.settle();

    expect(names(cluster)).toEqual(["web-5"]);
  });

  test("deletes the last one first, and waits until it is gone and the others are well", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 4 });
    await makeAllReady(cluster);
    await hold(cluster, "web-3");

    await cluster.client(StatefulSet).scale({ name: "web" }, 1);
    await cluster.settle();
    expect(active(cluster)).toEqual(["web-0", "web-1", "web-2"]);
    await makeUnready(cluster, "web-0");
    await removeFinalizers(cluster, "web-3");
    await cluster.settle();
    expect(active(cluster)).toEqual(["web-0", "web-1", "web-2"]);
    await makeAllReady(cluster);

    expect(names(cluster)).toEqual(["web-0"]);
  });

  test("that is being deleted says what is left of it, and makes nothing", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 2, podManagementPolicy: "Parallel" });
    await cluster.settle();
    const { status } = set(cluster);
    await cluster.client(StatefulSet).delete({ name: "web" }, { propagationPolicy: "Foreground" });
    await cluster.client(Pod).delete({ name: "web-1" }, { gracePeriodSeconds: 0 });
    for (const { metadata } of cluster.objects(ControllerRevision))
      await cluster.client(ControllerRevision).delete(metadata);
    await cluster.settle();

    expect(names(cluster)).toEqual(["web-0"]);
    expect(cluster.objects(ControllerRevision)).toEqual([]);
    expect(set(cluster).status).toMatchObject({
      observedGeneration: 2,
      replicas: 1,
      currentRevision: status.currentRevision,
      updateRevision: status.updateRevision,
    });
  });

  test("makes a deleted or failed pod anew under the same name", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 3 });
    await makeAllReady(cluster);
    const before = pods(cluster).map(({ metadata }) => metadata.uid);

    await cluster.client(Pod).delete({ name: "web-1" });
    await cluster.client(Pod).updateStatus(pods(cluster).at(-1) as Pod, { phase: "Failed" });
    await makeAllReady(cluster);

    const after = pods(cluster).map(({ metadata }) => metadata.uid);
    expect(names(cluster)).toEqual(["web-0", "web-1", "web-2"]);
    expect(after.map((uid) => before.includes(uid))).toEqual([true, false, false]);
  });

  test("moves to a new template from the last pod down, one at a time", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 3 });
    await makeAllReady(cluster);
    const first = set(cluster).status.currentRevision;

    await change(cluster, { image: "web:2" });
    await cluster.settle();
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:2"]);
    expect(set(cluster).status).toMatchObject({
      currentRevision: first,
      currentReplicas: 2,
      updatedReplicas: 1,
    });
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
    const { currentRevision, updateRevision } = set(cluster).status;
    expect(currentRevision).toBe(updateRevision);
    expect(currentRevision).not.toBe(first);
    expect(revisions(cluster)).toEqual([1, 2]);
  });

  test("leaves pods below the partition at the earlier template, also when they are made anew", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 3, updateStrategy: rolling({ partition: 2 }) });
    await makeAllReady(cluster);

    await change(cluster, { image: "web:2" });
    await makeAllReady(cluster);
    await cluster.client(Pod).delete({ name: "web-0" });
    await makeAllReady(cluster);
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:2"]);
    await cluster
      .client(StatefulSet)
      .patch(
        { name: "web" },
        { type: "merge", changes: { spec: { updateStrategy: rolling({ partition: 0 }) } } },
      );
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("replaces as many at a time as may be missing", async () => {
    await using cluster = await start(seed);
    const updateStrategy = rolling({ maxUnavailable: 2 });
    await create(cluster, { replicas: 5, podManagementPolicy: "Parallel", updateStrategy });
    await makeAllReady(cluster);

    await change(cluster, { image: "web:2" });
    await cluster.settle();

    expect(images(cluster)).toEqual(["web:1", "web:1", "web:1", "web:2", "web:2"]);
    await makeAllReady(cluster);
    expect(images(cluster)).toEqual(Array(5).fill("web:2"));
  });

  test("changes pods only when they are deleted, if it is so asked", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 2, updateStrategy: { type: "OnDelete" } });
    await makeAllReady(cluster);

    await change(cluster, { image: "web:2" });
    await makeAllReady(cluster);
    expect(images(cluster)).toEqual(["web:1", "web:1"]);
    await cluster.client(Pod).delete({ name: "web-0" });
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:1"]);
  });

  test("stops at a template that does not come up, and goes back only when the broken pod is deleted", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 3 });
    await makeAllReady(cluster);
    await change(cluster, { image: "web:bad" });
    await cluster.settle();
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:bad"]);

    await change(cluster, { image: "web:1" });
    await cluster.settle();
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:bad"]);
    await cluster.client(Pod).delete({ name: "web-2" });
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:1", "web:1", "web:1"]);
    expect(revisions(cluster)).toEqual([2, 3]);
  });

  test("counts a pod only when it has been ready for long enough, and goes on only then", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 2, minReadySeconds: 30 });
    await cluster.settle();

    await makeReady(cluster, pods(cluster)[0] as Pod);
    await cluster.clock.advance("29s");
    expect(names(cluster)).toEqual(["web-0"]);
    expect(set(cluster).status).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    await cluster.clock.advance("2s");

    expect(names(cluster)).toEqual(["web-0", "web-1"]);
    expect(set(cluster).status).toMatchObject({ availableReplicas: 1 });
  });

  test("makes the set, or a pod that is scaled away, the owner of claims that shall go with it", async () => {
    await using cluster = await start(seed);
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete", whenScaled: "Delete" };
    await create(cluster, {
      replicas: 2,
      volumeClaimTemplates: [claim("data")],
      persistentVolumeClaimRetentionPolicy,
    });
    await makeAllReady(cluster);
    expect(owners(cluster)).toEqual(["StatefulSet/web", "StatefulSet/web"]);

    await hold(cluster, "web-1");
    await cluster.client(StatefulSet).scale({ name: "web" }, 1);
    await cluster.settle();
    expect(owners(cluster)).toEqual(["StatefulSet/web", "Pod/web-1"]);
    await cluster.client(StatefulSet).patch(
      { name: "web" },
      {
        type: "merge",
        changes: {
          spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" } },
        },
      },
    );
    await cluster.settle();

    expect(owners(cluster)).toEqual(["", ""]);
  });

  test.each(["OrderedReady", "Parallel"] as const)(
    "that is %s makes a pod anew while the claim of a later one is held",
    async (podManagementPolicy) => {
      await using cluster = await start(seed);
      await create(cluster, { replicas: 2, podManagementPolicy, volumeClaimTemplates: [claim("data")] });
      await cluster.settle();
      await setReady(cluster, "web-0", "True");
      await cluster.settle();
      await holdClaim(cluster, "data-web-1");
      await cluster.client(PersistentVolumeClaim).delete({ name: "data-web-1" });

      await cluster.client(Pod).delete({ name: "web-0" });
      await cluster.clock.advance("10m");

      expect(names(cluster)).toEqual(["web-0", "web-1"]);
    },
  );

  test("adopts only pods of its own names", async () => {
    await using cluster = await start(seed);
    const spec = { containers: [{ name: "web", image: "web:1" }] };
    await cluster.client(Pod).create({ metadata: { name: "web-0", labels: { app: "web" } }, spec });
    await cluster.client(Pod).create({ metadata: { name: "other-0", labels: { app: "web" } }, spec });
    await create(cluster, { replicas: 1 });

    await cluster.settle();

    const owner = (name: string): string | undefined =>
      pods(cluster).find(({ metadata }) => metadata.name === name)?.metadata.ownerReferences?.[0]?.name;
    expect([owner("web-0"), owner("other-0")]).toEqual(["web", undefined]);
  });

  test("forgets what lies further back than its history reaches", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 1, revisionHistoryLimit: 2 });
    await makeAllReady(cluster);

    for (const version of [2, 3, 4, 5]) {
      await change(cluster, { image: `web:${String(version)}` });
      await makeAllReady(cluster);
    }

    expect(revisions(cluster)).toEqual([3, 4, 5]);
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed);
    await create(cluster, { replicas: 2, volumeClaimTemplates: [claim("data")] });
    await makeAllReady(cluster);
    const everything = () => [
      cluster.objects(StatefulSet),
      cluster.objects(ControllerRevision),
      cluster.objects(PersistentVolumeClaim),
      pods(cluster),
    ];
    const before = everything();

    await cluster.clock.advance("3h");

    expect(everything()).toEqual(before);
  });

  test("has exactly its pods after its loop was stopped again and again", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    await create(cluster, {
      replicas: 12,
      podManagementPolicy: "Parallel",
      volumeClaimTemplates: [claim("data")],
    });
    for (let round = 0; round < 5; round++) {
      const loops = cluster.run(builtInLoops(LOOPS));
      const before = claims(cluster).length + pods(cluster).length;
      await cluster.until(() => claims(cluster).length + pods(cluster).length > before || before === 24);
      await loops.stop();
    }
    cluster.run(builtInLoops(LOOPS));
    await makeAllReady(cluster);

    expect(names(cluster)).toHaveLength(12);
    expect(claims(cluster)).toHaveLength(12);
    expect(cluster.objects(ControllerRevision)).toHaveLength(1);
  });
});

describe("a StatefulSet", () => {
  test("whose revision's name is taken by something else finds another, and counts that", async () => {
    await using teller = await start(1);
    await create(teller, { replicas: 0 });
    await teller.settle();
    const [first] = teller.objects(ControllerRevision);
    const name = first?.metadata.name ?? "";
    await using cluster = await start(1);
    await cluster.client(ControllerRevision).create({ metadata: { name }, revision: 1, data: {} });

    await create(cluster, { replicas: 1 });
    await makeAllReady(cluster);

    expect(set(cluster).status).toMatchObject({ collisionCount: 1, readyReplicas: 1 });
    expect(set(cluster).status.updateRevision).not.toBe(name);
  });

  test.each([
    [9007199254740991, 9007199254740992n],
    [9223372036854775806n, 9223372036854775807n],
    [9223372036854775807n, 9223372036854775807n],
  ])("counts revisions on from one that it adopts, however large: %s", async (...row) => {
    const [known, next] = row.map((revision) => revision) as [number, number];
    await using cluster = await start(1);
    const metadata = { name: "old", labels: { app: "web" } };
    await cluster.client(ControllerRevision).create({ metadata, revision: known, data: {} });

    await create(cluster, { replicas: 1 });
    await makeAllReady(cluster);

    const made = cluster.objects(ControllerRevision).filter(({ metadata: { name } }) => name !== "old");
    expect(made.map(({ revision }) => revision)).toEqual([next]);
    expect(set(cluster).status).toMatchObject({ readyReplicas: 1 });
  });

  test("never takes the pods of another with the same selector", async () => {
    await using cluster = await start(1);
    await create(cluster, { replicas: 2, podManagementPolicy: "Parallel" });
    await cluster.settle();
    const { metadata, spec } = set(cluster);
    await cluster.client(StatefulSet).create({ metadata: { name: `${metadata.name}-0` }, spec });
    await cluster.settle();

    expect(names(cluster)).toEqual(["web-0", "web-0-0", "web-0-1", "web-1"]);
    const ofOwner = (name: string) =>
      pods(cluster).filter((pod) => pod.metadata.ownerReferences?.[0]?.name === name);
    expect([ofOwner("web").length, ofOwner("web-0").length]).toEqual([2, 2]);
  });
});

describe("a StatefulSet in a whole cluster", () => {
  test("comes up with its volumes, changes, and loses the claims that shall go with its pods", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 3 });
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Delete", whenScaled: "Delete" };
    const volumeClaimTemplates = [claim("data")];
    await create(cluster, { replicas: 3, volumeClaimTemplates, persistentVolumeClaimRetentionPolicy });
    await cluster.settle();
    expect(set(cluster).status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(cluster.objects(PersistentVolumeClaim).map(({ status }) => status.phase)).toEqual([
      "Bound",
      "Bound",
      "Bound",
    ]);

    await change(cluster, { image: "web:2" });
    await cluster.settle();
    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
    await cluster.client(StatefulSet).scale({ name: "web" }, 1);
    await cluster.settle();
    expect([names(cluster), claims(cluster)]).toEqual([["web-0"], ["data-web-0"]]);
    await cluster.client(StatefulSet).scale({ name: "web" }, 2);
    await cluster.settle();
    expect([names(cluster), claims(cluster)]).toEqual([
      ["web-0", "web-1"],
      ["data-web-0", "data-web-1"],
    ]);
    await cluster.client(StatefulSet).delete({ name: "web" }, { propagationPolicy: "Foreground" });
    await cluster.settle();

    expect([names(cluster), claims(cluster), cluster.objects(ControllerRevision)]).toEqual([[], [], []]);
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

/** Numbers of pods in every state that the set passed through. */
async function recordCounts(cluster: Cluster): Promise<readonly (number | undefined)[]> {
  const counts: (number | undefined)[] = [];
  for await (const events of await cluster.client(StatefulSet).watch({ resourceVersion: "0" })) {
    for (const event of events)
      if ("object" in event) counts.push((event.object as StatefulSet).status.replicas);
  }
  return counts;
}

function create(
  cluster: Cluster,
  {
    volumeClaimTemplates,
    ...spec
  }: Partial<Omit<StatefulSetSpec, "volumeClaimTemplates">> & {
    readonly volumeClaimTemplates?: readonly ReturnType<typeof claim>[];
  },
): Promise<StatefulSet> {
  return cluster.client(StatefulSet).create({
    metadata: { name: "web" },
    spec: {
      serviceName: "peers",
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web:1" }] },
      },
      ...spec,
      ...(volumeClaimTemplates !== undefined && { volumeClaimTemplates }),
    },
  });
}

function claim(name: string) {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } as const;
  return { metadata: { name }, spec };
}

function rolling(rollingUpdate: { readonly partition?: number; readonly maxUnavailable?: number }) {
  return { type: "RollingUpdate", rollingUpdate } as const;
}

async function change(cluster: Cluster, { image }: { readonly image: string }): Promise<void> {
  const containers = [{ name: "web", image }];
  const changes = { spec: { template: { spec: { containers } } } };
  await cluster.client(StatefulSet).patch({ name: "web" }, { type: "strategic", changes });
}

function set(cluster: Cluster): StatefulSet {
  const [found] = cluster.objects(StatefulSet);
  if (found === undefined) throw new Error("the StatefulSet is gone");
  return found;
}

function pods(cluster: Cluster): readonly Pod[] {
  return cluster.objects(Pod, "default");
}

function names(cluster: Cluster): readonly string[] {
  return pods(cluster).map(({ metadata }) => metadata.name);
}

function active(cluster: Cluster): readonly string[] {
  return pods(cluster)
    .filter(isActive)
    .map(({ metadata }) => metadata.name);
}

function images(cluster: Cluster): readonly (string | undefined)[] {
  return pods(cluster).map(({ spec }) => spec.containers[0]?.image);
}

function claims(cluster: Cluster): readonly string[] {
  return cluster.objects(PersistentVolumeClaim, "default").map(({ metadata }) => metadata.name);
}

function owners(cluster: Cluster): readonly string[] {
  return cluster
    .objects(PersistentVolumeClaim, "default")
    .map(({ metadata }) =>
      (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind}/${name}`).join(" "),
    );
}

function revisions(cluster: Cluster): readonly number[] {
  return cluster
    .objects(ControllerRevision)
    .map(({ revision }) => revision)
    .toSorted((left, right) => left - right);
}

function messages(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ message }) => message);
}

async function makeReady(cluster: Cluster, pod: Pod): Promise<void> {
  await setReady(cluster, pod.metadata.name, "True");
}

async function makeUnready(cluster: Cluster, name: string): Promise<void> {
  await setReady(cluster, name, "False");
}

async function setReady(cluster: Cluster, name: string, status: "False" | "True"): Promise<void> {
  const pod = await cluster.client(Pod).get({ name });
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString();
  const conditions = [{ type: "Ready", status, lastTransitionTime }];
  await cluster.client(Pod).updateStatus(pod, { phase: "Running", conditions });
}

/** Runs until nothing changes any more. Returns the pods at each step. */
async function makeAllReady(cluster: Cluster): Promise<readonly (readonly string[])[]> {
  const seen: (readonly string[])[] = [];
  for (;;) {
    await cluster.settle();
    const waiting = pods(cluster).filter((pod) => isActive(pod) && !isReady(pod));
    if (waiting.length === 0) return seen;
    seen.push(names(cluster));
    for (const pod of waiting) await makeReady(cluster, pod);
  }
}

/** Keeps a deleted pod by a finalizer. */
async function hold(cluster: Cluster, name: string): Promise<void> {
  const changes = { metadata: { finalizers: ["example.com/held"] } };
  await cluster.client(Pod).patch({ name }, { type: "merge", changes });
}

async function holdClaim(cluster: Cluster, name: string): Promise<void> {
  const changes = { metadata: { finalizers: ["example.com/held"] } };
  await cluster.client(PersistentVolumeClaim).patch({ name }, { type: "merge", changes });
}

async function removeFinalizers(cluster: Cluster, name: string): Promise<void> {
  await cluster.client(Pod).patch({ name }, { type: "merge", changes: { metadata: { finalizers: [] } } });
}
