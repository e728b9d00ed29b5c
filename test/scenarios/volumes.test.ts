import { describe, expect, test } from "vitest";
import {
  Event,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../src/api/generated/types/core-v1.ts";
import { StorageClass, VolumeAttributesClass } from "../../src/api/generated/types/storage-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOPS = [
  "persistentvolume-controller",
  "persistentvolume-phase-controller",
  "host-path-provisioner",
  "pvc-protection-controller",
  "pv-protection-controller",
  "volumeattributesclass-protection-controller",
  "default-storage-class",
];

describe.each([1, 2, 3])("a PersistentVolumeClaim, seed %s", (seed) => {
  test("gets a volume of its own from the default class", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "standard" });
    await cluster.settle();

    const claim = await cluster.client(PersistentVolumeClaim).get({ name: "data" });
    const [volume] = cluster.objects(PersistentVolume);
    expect(claim.spec.volumeName).toBe(`pvc-${claim.metadata.uid}`);
    expect(claim.status).toEqual({
      phase: "Bound",
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
    });
    expect(claim.metadata.annotations).toMatchObject({ "pv.kubernetes.io/bind-completed": "yes" });
    expect(volume?.status.phase).toBe("Bound");
    expect(volume?.spec.claimRef).toMatchObject({ name: "data", uid: claim.metadata.uid });
    expect(reasons(cluster)).toContain("ProvisioningSucceeded");
  });

  test("that goes takes a volume with it that is to be deleted", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "standard" });
    await cluster.settle();

    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toEqual([]);
    expect(cluster.objects(PersistentVolume)).toEqual([]);
  });

  test("gets the smallest volume that is large enough, and leaves it behind when it goes", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "small", "500Mi");
    await createVolume(cluster, "large", "10Gi");
    await createVolume(cluster, "right", "2Gi");
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    expect(phases(cluster)).toEqual({ small: "Available", large: "Available", right: "Bound" });

    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();

    expect(phases(cluster)).toEqual({ small: "Available", large: "Available", right: "Released" });
  });

  test.each([
    [{ hostPath: { path: "/tmp/data" } }, "Delete", undefined, undefined],
    [
      { hostPath: { path: "/data" } },
      "Delete",
      "Failed",
      "VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /data",
    ],
    [
      { nfs: { server: "a", path: "/b" } },
      "Delete",
      "Failed",
      'VolumeFailedDelete: error getting deleter volume plugin for volume "made": no deletable volume plugin matched',
    ],
    [
      { csi: { driver: "a", volumeHandle: "b" } },
      "Delete",
      "Failed",
      'VolumeFailedDelete: error getting deleter volume plugin for volume "made": no volume plugin matched',
    ],
    [
      { csi: { driver: "a", volumeHandle: "b" } },
      "Recycle",
      "Failed",
      "VolumeFailedRecycle: No recycler plugin found for the volume!",
    ],
    [{ csi: { driver: "a", volumeHandle: "b" } }, "Retain", "Released", undefined],
  ] as const)("that goes leaves a volume %j behind that is to %s", async (source, policy, phase, event) => {
    await using cluster = await start(seed);
    await cluster.client(PersistentVolume).create({
      metadata: { name: "made" },
      spec: {
        ...source,
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: policy,
      },
    });
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();

    const [volume] = cluster.objects(PersistentVolume);
    expect(volume?.status.phase).toBe(phase);
    expect(volume?.status.message).toBe(event?.replace(/^\w+: /, ""));
    expect(told(cluster).filter((text) => text.startsWith("VolumeFailed"))).toEqual(
      event === undefined ? [] : [event],
    );
  });

  test.each([
    ["Succeeded", "Available", "VolumeRecycled: Volume recycled"],
    ["Failed", "Failed", "VolumeFailedRecycle: Recycle failed: too slow"],
  ] as const)(
    "that goes has its volume emptied by a pod; when that has %s it is %s",
    async (ended, phase, event) => {
      await using cluster = await start(seed);
      await createRecyclable(cluster);
      await createClaim(cluster, "data", { storageClassName: "" });
      await cluster.settle();
      await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
      await cluster.settle();
      expect(phases(cluster)).toEqual({ old: "Released" });

      const recycler = await cluster.client(Pod).get({ name: "recycler-for-old" });
      expect(recycler.spec).toMatchObject({ restartPolicy: "Never", activeDeadlineSeconds: 150 });
      await cluster.client(Pod).updateStatus(recycler, { phase: ended, message: "too slow" });
      await cluster.settle();

      expect(phases(cluster)).toEqual({ old: phase });
      expect(told(cluster)).toContain(event);
      expect(cluster.objects(PersistentVolume)[0]?.spec.claimRef === undefined).toBe(phase === "Available");
    },
  );

  test("that goes leaves its volume as it is while pods still name it", async () => {
    await using cluster = await start(seed);
    await createRecyclable(cluster);
    await createClaim(cluster, "data", { storageClassName: "" });
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    const containers = [{ name: "c", image: "c:1" }];
    await cluster.client(Pod).create({ metadata: { name: "waits" }, spec: { containers, volumes } });
    await cluster.settle();
    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();
    const pods = (): readonly string[] =>
      cluster.objects(Pod, "default").map(({ metadata }) => metadata.name);
    expect(pods()).toEqual(["waits"]);
    expect(told(cluster)).toContain("VolumeFailedRecycle: Volume is used by pods: default/waits");

    await cluster.client(Pod).delete({ name: "waits" });
    await cluster.clock.advance("15s");

    expect(pods()).toEqual(["recycler-for-old"]);
  });

  test("that goes has its volume emptied again when that failed, at once and then now and then", async () => {
    await using cluster = await start(seed);
    await createRecyclable(cluster);
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();
    const fail = async (): Promise<void> => {
      const recycler = await cluster.client(Pod).get({ name: "recycler-for-old" });
      await cluster.client(Pod).updateStatus(recycler, { phase: "Failed", message: "no room" });
      await cluster.settle();
    };
    await fail();
    await fail();
    expect(cluster.objects(Pod, "default")).toEqual([]);

    await cluster.clock.advance("15s");
    expect(cluster.objects(Pod, "default").map(({ metadata }) => metadata.name)).toEqual([
      "recycler-for-old",
    ]);
    await fail();
    expect(cluster.objects(Pod, "default")).toEqual([]);
    expect(phases(cluster)).toEqual({ old: "Failed" });
  });

  test("gets the volume that names it, and never one that names another", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "taken", "1Gi", { namespace: "default", name: "other" });
    await createVolume(cluster, "meant", "5Gi", { namespace: "default", name: "data" });
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();

    expect(phases(cluster)).toEqual({ taken: "Available", meant: "Bound" });
  });

  test("waits for a volume and says why; one volume is enough for one of two", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "one", { storageClassName: "" });
    await createClaim(cluster, "two", { storageClassName: "" });
    await cluster.settle();
    expect(reasons(cluster)).toContain("FailedBinding");

    await createVolume(cluster, "late", "1Gi");
    await cluster.settle();

    const claims = cluster.objects(PersistentVolumeClaim).map(({ status }) => status.phase ?? "");
    expect(claims.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(["Bound", "Pending"]);
  });

  test("of a class that waits stays open until a node is chosen", async () => {
    await using cluster = await start(seed);
    await cluster.client(StorageClass).create({
      metadata: { name: "late" },
      provisioner: "setpoint.dev/host-path",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    await createClaim(cluster, "data", { storageClassName: "late" });
    await cluster.settle();
    expect(cluster.objects(PersistentVolume)).toEqual([]);

    const annotations = { "volume.kubernetes.io/selected-node": "n1" };
    await cluster
      .client(PersistentVolumeClaim)
      .patch({ name: "data" }, { type: "merge", changes: { metadata: { annotations } } });
    await cluster.settle();

    const [volume] = cluster.objects(PersistentVolume);
    expect(volume?.status.phase).toBe("Bound");
    expect(volume?.spec.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values).toEqual([
      "n1",
    ]);
  });

  test("of a class that waits says for which pod it waits that finds no node", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, nodes: 1 });
    await cluster.client(StorageClass).create({
      metadata: { name: "late" },
      provisioner: "setpoint.dev/host-path",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    await createClaim(cluster, "data", { storageClassName: "late" });
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    const containers = [{ name: "main", image: "app" }];
    const spec = { containers, volumes, nodeSelector: { disk: "ssd" } };
    await cluster.client(Pod).create({ metadata: { name: "web" }, spec });
    await cluster.settle();

    expect(claimPhase(cluster, "data")).toBe("Pending");
    expect(told(cluster)).toContain("WaitForPodScheduled: waiting for pod web to be scheduled");
  });

  test("that names a volume waits for it, and gets it when it comes", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "", volumeName: "mine" });
    await createVolume(cluster, "other", "1Gi");
    await cluster.settle();
    expect(claimPhase(cluster, "data")).toBe("Pending");

    await createVolume(cluster, "mine", "5Gi");
    await cluster.settle();

    expect(claimPhase(cluster, "data")).toBe("Bound");
    expect(phases(cluster)).toEqual({ mine: "Bound", other: "Available" });
  });

  test("that names a volume which does not suit it, or is taken, stays open and says why", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "small", "500Mi");
    await createVolume(cluster, "taken", "1Gi", { namespace: "default", name: "other" });
    await createClaim(cluster, "one", { storageClassName: "", volumeName: "small" });
    await createClaim(cluster, "two", { storageClassName: "", volumeName: "taken" });
    await cluster.settle();

    expect([claimPhase(cluster, "one"), claimPhase(cluster, "two")]).toEqual(["Pending", "Pending"]);
    expect(phases(cluster)).toEqual({ small: "Available", taken: "Available" });
    expect(told(cluster)).toEqual([
      'FailedBinding: volume "taken" already bound to a different claim.',
      'VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small',
    ]);
  });

  test("of a class without a provisioner is told so", async () => {
    await using cluster = await start(seed);
    await cluster.client(StorageClass).create({
      metadata: { name: "local" },
      provisioner: "kubernetes.io/no-provisioner",
    });
    await createClaim(cluster, "data", { storageClassName: "local" });
    await cluster.settle();

    expect(told(cluster)).toEqual([
      "ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner",
    ]);
  });

  test("that was made before there was a default class gets the class that becomes it", async () => {
    await using cluster = await start(seed);
    await cluster.settle();
    await cluster.client(StorageClass).delete({ name: "standard" });
    await createClaim(cluster, "data", {});
    await createClaim(cluster, "none", { storageClassName: "" });
    await cluster.settle();
    expect(claimPhase(cluster, "data")).toBe("Pending");

    await cluster.client(StorageClass).create({
      metadata: { name: "late", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "example.com/disks",
    });
    await cluster.settle();

    const claims = cluster.objects(PersistentVolumeClaim, "default");
    expect(claims.map(({ spec }) => spec.storageClassName)).toEqual(["late", ""]);
    expect(claims[0]?.metadata.annotations).toEqual({
      "volume.beta.kubernetes.io/storage-provisioner": "example.com/disks",
      "volume.kubernetes.io/storage-provisioner": "example.com/disks",
    });
  });

  test("that a pod on a node uses is not gone before the pod is, even if it has ended", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "standard" });
    const pod = await createUser(cluster, "user", { nodeName: "n1" });
    await cluster.settle();

    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.client(Pod).updateStatus(pod, { phase: "Succeeded" });
    await cluster.settle();
    expect(cluster.objects(PersistentVolumeClaim)).toHaveLength(1);
    await cluster.client(Pod).delete(pod, { gracePeriodSeconds: 0 });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toEqual([]);
  });

  test("that only a pod without a node uses does not wait for it", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "standard" });
    await createUser(cluster, "user", {});
    await cluster.settle();

    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)).toEqual([]);
  });

  test("keeps the class of attributes that it names until it is gone", async () => {
    await using cluster = await start(seed);
    await cluster.client(VolumeAttributesClass).create({
      metadata: { name: "gold" },
      driverName: "disks.example.com",
      parameters: { iops: "9000" },
    });
    await createClaim(cluster, "data", { storageClassName: "", volumeAttributesClassName: "gold" });
    await cluster.settle();

    await cluster.client(VolumeAttributesClass).delete({ name: "gold" });
    await cluster.settle();
    expect(cluster.objects(VolumeAttributesClass)).toHaveLength(1);
    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();

    expect(cluster.objects(VolumeAttributesClass)).toEqual([]);
  });

  test("lets go of other volumes that say they are its own", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "right", "1Gi");
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    const { metadata } = await cluster.client(PersistentVolumeClaim).get({ name: "data" });
    const claimRef = { namespace: "default", name: "data", uid: metadata.uid };
    await createVolume(cluster, "named", "1Gi", claimRef);
    await cluster.client(PersistentVolume).create({
      metadata: { name: "chosen", annotations: { "pv.kubernetes.io/bound-by-controller": "yes" } },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/chosen" },
        claimRef,
      },
    });
    await cluster.settle();

    const references = cluster.objects(PersistentVolume).map(({ spec }) => spec.claimRef);
    expect(phases(cluster)).toEqual({ chosen: "Available", named: "Available", right: "Bound" });
    expect(references).toMatchObject([
      undefined,
      { namespace: "default", name: "data" },
      { uid: metadata.uid },
    ]);
    expect(references[1]).not.toHaveProperty("uid");
  });

  test("whose volume is deleted under it is lost, and says so", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "v", "1Gi");
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    const changes = { metadata: { finalizers: [] } };
    await cluster.client(PersistentVolume).delete({ name: "v" });
    await cluster.client(PersistentVolume).patch({ name: "v" }, { type: "merge", changes });
    await cluster.settle();

    expect(cluster.objects(PersistentVolumeClaim)[0]?.status.phase).toBe("Lost");
    expect(reasons(cluster)).toContain("ClaimLost");
  });

  test("whose volume could not be removed leaves it to be seen that something went wrong", async () => {
    await using cluster = await start(seed);
    await createVolume(cluster, "v", "1Gi");
    await createClaim(cluster, "data", { storageClassName: "" });
    await cluster.settle();
    await cluster.client(PersistentVolumeClaim).delete({ name: "data" });
    await cluster.settle();
    const volume = await cluster.client(PersistentVolume).get({ name: "v" });

    await cluster.client(PersistentVolume).updateStatus(volume, { phase: "Failed", message: "no such disk" });
    await cluster.settle();

    expect(cluster.objects(PersistentVolume)[0]?.status).toMatchObject({
      phase: "Failed",
      message: "no such disk",
    });
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed);
    await createClaim(cluster, "data", { storageClassName: "standard" });
    await cluster.settle();
    const before = [cluster.objects(PersistentVolumeClaim), cluster.objects(PersistentVolume)];

    await cluster.clock.advance("2h");

    expect([cluster.objects(PersistentVolumeClaim), cluster.objects(PersistentVolume)]).toEqual(before);
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

async function createClaim(
  cluster: Cluster,
  name: string,
  spec: Partial<PersistentVolumeClaim["spec"]>,
): Promise<void> {
  await cluster.client(PersistentVolumeClaim).create({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });
}

async function createRecyclable(cluster: Cluster): Promise<void> {
  await cluster.client(PersistentVolume).create({
    metadata: { name: "old" },
    spec: {
      hostPath: { path: "/data" },
      capacity: { storage: "5Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Recycle",
    },
  });
}

async function createVolume(
  cluster: Cluster,
  name: string,
  storage: string,
  claimRef?: NonNullable<PersistentVolume["spec"]["claimRef"]>,
): Promise<void> {
  await cluster.client(PersistentVolume).create({
    metadata: { name },
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: `/${name}` },
      ...(claimRef !== undefined && { claimRef }),
    },
  });
}

async function createUser(
  cluster: Cluster,
  name: string,
  spec: { readonly nodeName?: string },
): Promise<Pod> {
  return await cluster.client(Pod).create({
    metadata: { name },
    spec: {
      containers: [{ name: "c", image: "c" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
      ...spec,
    },
  });
}

function phases(cluster: Cluster): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    cluster.objects(PersistentVolume).map(({ metadata, status }) => [metadata.name, status.phase]),
  );
}

function reasons(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ reason }) => reason);
}

function claimPhase(cluster: Cluster, name: string): string | undefined {
  const claims = cluster.objects(PersistentVolumeClaim, "default");
  return claims.find(({ metadata }) => metadata.name === name)?.status.phase;
}

function told(cluster: Cluster): readonly string[] {
  const events = cluster.objects(Event, "default");
  return events.map(({ reason, message }) => `${reason ?? ""}: ${message ?? ""}`).toSorted();
}
