/** Pods go where their volumes are, and volumes are provisioned where their pods go. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../src/api/generated/types/core-v1.ts";
import { CSINode, StorageClass } from "../../src/api/generated/types/storage-v1.ts";
import { startSchedulerFixture, type PodChange, type SchedulerFixture } from "./scheduler-fixture.ts";

const SELECTED = "volume.kubernetes.io/selected-node";

function using(claimName: string): PodChange {
  return { spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] } };
}

async function addClass(world: SchedulerFixture, name: string, provisioner: string): Promise<void> {
  await world.run(
    world.client(StorageClass).create({
      metadata: { name },
      provisioner,
      volumeBindingMode: "WaitForFirstConsumer",
    }),
  );
}

async function addClaim(
  world: SchedulerFixture,
  name: string,
  spec: Manifest<PersistentVolumeClaim>["spec"] = {},
): Promise<PersistentVolumeClaim> {
  return await world.run(
    world.client(PersistentVolumeClaim).create({
      metadata: { name, namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
    }),
  );
}

async function addVolume(
  world: SchedulerFixture,
  name: string,
  {
    node,
    storage = "1Gi",
    spec = {},
  }: { readonly node: string; readonly storage?: string; readonly spec?: object },
): Promise<PersistentVolume> {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [node] }];
  const volumes = world.client(PersistentVolume);
  const made = await world.run(
    volumes.create({
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage },
        hostPath: { path: "/data" },
        storageClassName: "local",
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
        ...spec,
      },
    }),
  );
  return await world.run(volumes.updateStatus(made, { phase: "Available" }));
}

/** A pod waits for a claim without a provisioner. */
async function startUnserved(): Promise<SchedulerFixture> {
  const world = await startSchedulerFixture();
  await world.addNode("a");
  await addClass(world, "fast", "example.com/disks");
  await addClaim(world, "data", { storageClassName: "fast" });
  await world.addPod("web", using("data"));
  await world.settle();
  return world;
}

async function bind(world: SchedulerFixture, claimName: string, volumeName: string): Promise<void> {
  const claims = world.client(PersistentVolumeClaim);
  const key = { namespace: "default", name: claimName };
  const annotations = { "pv.kubernetes.io/bind-completed": "yes" };
  const changes = { metadata: { annotations }, spec: { volumeName } };
  const claim = await world.run(claims.patch(key, { type: "merge", changes }));
  await world.run(claims.updateStatus(claim, { phase: "Bound" }));
}

describe("claims", () => {
  test("that are not there are waited for", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await world.addPod("web", using("data"));
    await world.settle();

    expect(await world.reason("web")).toBe(
      '0/1 nodes are available: persistentvolumeclaim "data" not found. ' +
        "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
  });

  test("that are bound at once must be bound first", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await addClaim(world, "data");
    await world.addPod("web", using("data"));
    await world.settle();

    expect(await world.reason("web")).toContain(
      "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
    );
  });

  test("that are bound hold the pod to where their volume is", async () => {
    const world = await startSchedulerFixture();
    for (const name of ["a", "b", "c"]) await world.addNode(name);
    await addVolume(world, "disk", { node: "b" });
    await addClaim(world, "data", { storageClassName: "local" });
    await bind(world, "data", "disk");
    await world.addPod("web", using("data"));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
  });

  test("whose volume cannot be reached say so", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await addVolume(world, "disk", { node: "gone" });
    await addClaim(world, "data", { storageClassName: "local" });
    await bind(world, "data", "disk");
    await world.addPod("web", using("data"));
    await world.settle();

    expect(await world.reason("web")).toContain("1 node(s) didn't match PersistentVolume's node affinity.");
  });

  test("that wait for their pod get the smallest volume there that is large enough", async () => {
    const world = await startSchedulerFixture();
    for (const name of ["a", "b"]) await world.addNode(name);
    await addClass(world, "local", "kubernetes.io/no-provisioner");
    await addVolume(world, "small", { node: "b", storage: "512Mi" });
    await addVolume(world, "large", { node: "b", storage: "10Gi" });
    await addVolume(world, "right", { node: "b", storage: "1Gi" });
    const claim = await addClaim(world, "data", { storageClassName: "local" });
    await world.addPod("web", using("data"));
    await world.settle();

    const right = await world.run(world.client(PersistentVolume).get({ name: "right" }));
    expect(right.spec.claimRef).toMatchObject({ name: "data", uid: claim.metadata.uid });
    expect((await world.pod("web")).spec.nodeName).toBeUndefined();
    expect((await world.pod("web")).status.nominatedNodeName).toBe("b");

    await bind(world, "data", "right");
    await world.settle();
    expect((await world.pod("web")).spec.nodeName).toBe("b");
    expect((await world.pod("web")).status.nominatedNodeName).toBeUndefined();
  });

  test("for which a volume was set aside get no other, and that one whatever it offers", async () => {
    const world = await startSchedulerFixture();
    await addClass(world, "local", "kubernetes.io/no-provisioner");
    const claimRef = { namespace: "default", name: "data" };
    const spec = { claimRef, accessModes: ["ReadOnlyMany"] };
    await addVolume(world, "kept", { node: "b", storage: "10Gi", spec });
    await addVolume(world, "other", { node: "a" });
    await world.addNode("a");
    const claim = await addClaim(world, "data", { storageClassName: "local" });
    await world.addPod("web", using("data"));
    await world.settle();
    expect(await world.reason("web")).toContain("1 node(s) didn't find available persistent volumes to bind");

    await world.addNode("b");
    await world.settle();
    const kept = await world.run(world.client(PersistentVolume).get({ name: "kept" }));
    expect(kept.spec.claimRef).toMatchObject({ uid: claim.metadata.uid });
  });

  test("without a volume name the chosen node for their provisioner", async () => {
    const world = await startUnserved();

    const claim = await world.run(
      world.client(PersistentVolumeClaim).get({ namespace: "default", name: "data" }),
    );
    expect(claim.metadata.annotations).toMatchObject({ [SELECTED]: "a" });
    expect((await world.pod("web")).spec.nodeName).toBeUndefined();

    await addVolume(world, "made", { node: "a" });
    await bind(world, "data", "made");
    await world.settle();
    expect((await world.pod("web")).spec.nodeName).toBe("a");
  });

  test("without a provisioner keep the pod waiting, and reserve room only up to a bound", async () => {
    const world = await startUnserved();

    await world.loop.advance(601_000);

    expect(await world.reason("web")).toBe(
      'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    );
  });

  test("that cannot be served on the chosen node say so", async () => {
    const world = await startUnserved();

    const changes = { metadata: { annotations: { [SELECTED]: null } } };
    await world.run(
      world
        .client(PersistentVolumeClaim)
        .patch({ namespace: "default", name: "data" }, { type: "merge", changes }),
    );
    await world.settle();

    expect(await world.reason("web")).toBe(
      'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"',
    );
  });

  test("of a pod that is deleted meanwhile leave the volume to others", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await addClass(world, "local", "kubernetes.io/no-provisioner");
    await addVolume(world, "disk", { node: "a" });
    await addClaim(world, "first", { storageClassName: "local" });
    await world.addPod("one", using("first"));
    await world.settle();
    await world.run(world.client(Pod).delete({ namespace: "default", name: "one" }));
    const claims = world.client(PersistentVolumeClaim);
    await world.run(claims.delete({ namespace: "default", name: "first" }));
    const changes = { spec: { claimRef: null } };
    await world.run(world.client(PersistentVolume).patch({ name: "disk" }, { type: "merge", changes }));
    const claim = await addClaim(world, "second", { storageClassName: "local" });
    await world.addPod("two", using("second"));
    await world.settle();

    const disk = await world.run(world.client(PersistentVolume).get({ name: "disk" }));
    expect(disk.spec.claimRef).toMatchObject({ uid: claim.metadata.uid });
  });

  test("of one pod only are used by one pod only", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    await addVolume(world, "disk", { node: "a", spec: { accessModes: ["ReadWriteOncePod"] } });
    await addClaim(world, "data", { storageClassName: "local", accessModes: ["ReadWriteOncePod"] });
    await bind(world, "data", "disk");
    await world.addPod("one", using("data"));
    await world.settle();
    await world.addPod("two", using("data"));
    await world.settle();

    expect(await world.places()).toEqual({ one: "a", two: undefined });
    expect(await world.reason("two")).toContain(
      "1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    );
  });

  test("in another zone keep the pod from the node", async () => {
    const world = await startSchedulerFixture();
    const zone = "topology.kubernetes.io/zone";
    await world.addNode("a", { labels: { [zone]: "1" } });
    await world.addNode("b", { labels: { [zone]: "2" } });
    const volume = { metadata: { name: "disk", labels: { [zone]: "2" } } };
    await world.run(
      world.client(PersistentVolume).create({
        ...volume,
        spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" } },
      }),
    );
    await addClaim(world, "data", { storageClassName: "" });
    await bind(world, "data", "disk");
    await world.addPod("web", using("data"));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
  });

  test("beyond what a node can attach keep the pod away", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a");
    const drivers = [{ name: "example.com", nodeID: "a", topologyKeys: [], allocatable: { count: 1 } }];
    await world.run(world.client(CSINode).create({ metadata: { name: "a" }, spec: { drivers } }));
    for (const name of ["one", "two"]) {
      const csi = { driver: "example.com", volumeHandle: name };
      await addVolume(world, name, { node: "a", spec: { hostPath: undefined, csi } });
      await addClaim(world, name, { storageClassName: "local" });
      await bind(world, name, name);
      await world.addPod(name, using(name));
      await world.settle();
    }

    expect(await world.places()).toEqual({ one: "a", two: undefined });
    expect(await world.reason("two")).toContain("1 node(s) exceed max volume count.");
  });
});
