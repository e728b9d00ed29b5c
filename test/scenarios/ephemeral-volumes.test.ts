import { describe, expect, test } from "vitest";
import { Event, PersistentVolumeClaim, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { ephemeralVolumeController } from "../../src/controllers/ephemeral-volume/controller.ts";

const LOOPS = ["ephemeral-volume-controller", "garbage-collector-controller"];

describe.each([1, 2])("a generic ephemeral volume, seed %s", (seed) => {
  test("has a claim of its own that is made from its template and belongs to the pod", async () => {
    await using cluster = await start(seed);
    const pod = await createPod(cluster);
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toMatchObject([
      {
        metadata: {
          name: "web-scratch",
          namespace: "default",
          labels: { kind: "scratch" },
          annotations: { note: "kept" },
          ownerReferences: [
            { kind: "Pod", name: "web", uid: pod.metadata.uid, controller: true, blockOwnerDeletion: true },
          ],
        },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ]);
  });

  test("gets a deleted claim back, and loses it with the pod", async () => {
    await using cluster = await start(seed);
    await createPod(cluster);
    await cluster.settle();
    const [first] = cluster.objects(PersistentVolumeClaim);

    await cluster.client(PersistentVolumeClaim).delete({ name: "web-scratch" });
    await cluster.settle();
    const [second] = cluster.objects(PersistentVolumeClaim);
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    await cluster.client(Pod).delete({ name: "web" });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toEqual([]);
  });

  test("never takes a foreign claim, reports it, and goes on when it is gone", async () => {
    await using cluster = await start(seed);
    await cluster.client(PersistentVolumeClaim).create({
      metadata: { name: "web-scratch" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
    });
    const pod = await createPod(cluster);
    await cluster.settle();
    expect(claims(cluster)).toEqual([undefined]);
    expect(messages(cluster)).toEqual([
      "ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner)",
    ]);

    await cluster.client(PersistentVolumeClaim).delete({ name: "web-scratch" });
    await cluster.settle();

    expect(claims(cluster)).toEqual([pod.metadata.uid]);
  });

  test("of a pod that has ended gets no claim", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: [] });
    const pod = await createPod(cluster);
    await cluster.client(Pod).updateStatus(pod, { phase: "Succeeded" });
    cluster.run({ controllers: [ephemeralVolumeController] });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toEqual([]);
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

function createPod(cluster: Cluster): Promise<Pod> {
  const volumeClaimTemplate = {
    metadata: { labels: { kind: "scratch" }, annotations: { note: "kept" } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  } as const;
  return cluster.client(Pod).create({
    metadata: { name: "web" },
    spec: {
      containers: [{ name: "web", image: "web:1" }],
      volumes: [
        { name: "scratch", ephemeral: { volumeClaimTemplate } },
        { name: "other", emptyDir: {} },
      ],
    },
  });
}

function claims(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(PersistentVolumeClaim).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
}

function messages(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ message }) => message);
}
