import { describe, expect, test } from "vitest";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import { ResourceClaim, ResourceClaimTemplate } from "../../src/api/generated/types/resource-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOPS = [
  "resource-claim-controller",
  "resource-claim-release-controller",
  "garbage-collector-controller",
];
const PROTECTION = "resource.kubernetes.io/delete-protection";

describe.each([1, 2])("a pod with a resource claim from a template, seed %s", (seed) => {
  test("gets a claim that belongs to it, and shows which", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    const pod = await createPod(cluster);
    await cluster.settle();

    const [claim] = cluster.objects(ResourceClaim);
    expect(cluster.objects(ResourceClaim)).toHaveLength(1);
    expect(claim?.metadata.name).toMatch(/^web-gpu-[a-z0-9]{5}$/);
    expect(claim?.metadata).toMatchObject({
      labels: { kind: "device" },
      annotations: { "resource.kubernetes.io/pod-claim-name": "gpu", note: "kept" },
      ownerReferences: [{ kind: "Pod", uid: pod.metadata.uid, controller: true }],
    });
    expect(claim?.spec.devices?.requests).toMatchObject([{ name: "one" }]);
    expect(shown(cluster)).toEqual([{ name: "gpu", resourceClaimName: claim?.metadata.name }]);
  });

  test("waits for its template, and says so", async () => {
    await using cluster = await start(seed);
    await createPod(cluster);
    await cluster.settle();
    expect(cluster.objects(ResourceClaim)).toEqual([]);
    expect(cluster.objects(Event, "default").map(({ reason }) => reason)).toEqual([
      "FailedResourceClaimCreation",
    ]);

    await createTemplate(cluster);
    await cluster.settle();

    expect(cluster.objects(ResourceClaim)).toHaveLength(1);
  });

  test("gets another claim when its own is deleted, and never two after a restart", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    await createPod(cluster);
    await cluster.settle();
    await using restarted = await cluster.fork();
    await restarted.clock.advance("1m");
    expect(restarted.objects(ResourceClaim)).toEqual(cluster.objects(ResourceClaim));

    await restarted.client(ResourceClaim).delete({ name: nameOf(restarted) });
    await restarted.settle();

    expect(shown(restarted)).toEqual([{ name: "gpu", resourceClaimName: nameOf(restarted) }]);
    expect(nameOf(restarted)).not.toBe(nameOf(cluster));
  });

  test("keeps the claim that it uses when that is deleted, and lets it go when it ends", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    const pod = await createPod(cluster);
    await cluster.settle();
    await allocate(cluster, pod);
    const name = nameOf(cluster);

    await cluster.client(ResourceClaim).delete({ name });
    await cluster.settle();
    expect(cluster.objects(ResourceClaim).map(({ metadata }) => metadata.name)).toEqual([name]);
    expect(shown(cluster)).toEqual([{ name: "gpu", resourceClaimName: name }]);

    await cluster.client(Pod).delete({ name: "web" }, { gracePeriodSeconds: 0 });
    await cluster.settle();
    expect(cluster.objects(ResourceClaim)).toEqual([]);
  });

  test("gives its devices back when it ends, and its claim goes", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    const pod = await createPod(cluster);
    await cluster.settle();
    await allocate(cluster, pod);
    await cluster.settle();
    expect(cluster.objects(ResourceClaim)[0]?.status.reservedFor).toHaveLength(1);

    const changes = { status: { phase: "Succeeded" } };
    await cluster.client(Pod).patch({ name: "web" }, { type: "merge", changes }, { subresource: "status" });
    await cluster.settle();

    expect(cluster.objects(ResourceClaim)).toEqual([]);
  });

  test("that is gone is no user of a claim that others share", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    const pod = await createPod(cluster);
    await cluster.settle();
    await cluster.client(ResourceClaim).create({
      metadata: { name: "shared", finalizers: [PROTECTION] },
      spec: devices(),
    });
    await allocate(cluster, pod, "shared");
    await cluster.settle();
    expect(find(cluster, "shared")?.status.reservedFor).toHaveLength(1);

    await cluster.client(Pod).delete({ name: "web" });
    await cluster.settle();

    expect(find(cluster, "shared")?.status).toEqual({});
    expect(find(cluster, "shared")?.metadata.finalizers).toBeUndefined();
  });

  test("that is gone leaves the devices to an unprotected claim, which no scheduler has allocated", async () => {
    await using cluster = await start(seed);
    await createTemplate(cluster);
    const pod = await createPod(cluster);
    const claim = await cluster
      .client(ResourceClaim)
      .create({ metadata: { name: "shared" }, spec: devices() });
    const reservedFor = [{ resource: "pods", name: "web", uid: pod.metadata.uid }];
    await cluster.client(ResourceClaim).updateStatus(claim, { allocation: {}, reservedFor });
    await cluster.settle();

    await cluster.client(Pod).delete({ name: "web" });
    await cluster.settle();

    expect(find(cluster, "shared")?.status.reservedFor).toBeUndefined();
    expect(find(cluster, "shared")?.status.allocation).toBeDefined();
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

function devices() {
  return { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu.example.com" } }] } };
}

async function createTemplate(cluster: Cluster): Promise<void> {
  await cluster.client(ResourceClaimTemplate).create({
    metadata: { name: "gpus" },
    spec: { metadata: { labels: { kind: "device" }, annotations: { note: "kept" } }, spec: devices() },
  });
}

function createPod(cluster: Cluster): Promise<Pod> {
  return cluster.client(Pod).create({
    metadata: { name: "web" },
    spec: {
      containers: [{ name: "web", image: "web:1" }],
      resourceClaims: [
        { name: "gpu", resourceClaimTemplateName: "gpus" },
        { name: "mine", resourceClaimName: "shared" },
      ],
    },
  });
}

/** Acts as the scheduler. */
async function allocate(cluster: Cluster, pod: Pod, name = nameOf(cluster)): Promise<void> {
  const finalizers = { metadata: { finalizers: [PROTECTION] } };
  const claim = await cluster.client(ResourceClaim).patch({ name }, { type: "merge", changes: finalizers });
  await cluster.client(ResourceClaim).updateStatus(claim, {
    allocation: {},
    reservedFor: [{ resource: "pods", name: pod.metadata.name, uid: pod.metadata.uid }],
  });
}

function find(cluster: Cluster, name: string): ResourceClaim | undefined {
  return cluster.objects(ResourceClaim).find(({ metadata }) => metadata.name === name);
}

function nameOf(cluster: Cluster): string {
  return cluster.objects(ResourceClaim)[0]?.metadata.name ?? "";
}

function shown(cluster: Cluster) {
  return cluster.objects(Pod, "default")[0]?.status.resourceClaimStatuses;
}
