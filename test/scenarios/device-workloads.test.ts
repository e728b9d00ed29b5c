/** Device claims in a whole cluster: created from templates, allocated, used by running pods, and released. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Event, Pod, ResourceQuota } from "../../src/api/generated/types/core-v1.ts";
import {
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from "../../src/api/generated/types/resource-v1.ts";
import { startCluster, type Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const DRIVER = "gpu.example.com";
const GPU = "example.com/gpu";
const DEVICES = { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] } };
const CONTAINERS = [{ name: "main", image: "app", resources: { claims: [{ name: "gpu" }] } }];

describe.each([1, 2])("pods with devices, seed %s", (seed) => {
  test("run, as many as there are devices, and the next when one has gone", async () => {
    await using cluster = await open(seed);
    await deploy(cluster, 3);
    await cluster.settle();
    const running = (): readonly Pod[] =>
      cluster.objects(Pod, "default").filter(({ status }) => status.phase === "Running");
    expect(running()).toHaveLength(2);
    expect(given(cluster)).toEqual(["node-1/gpu-0", "node-2/gpu-0"]);

    const [first] = running();
    await cluster.client(Deployment).scale({ name: "web" }, 2);
    if (first !== undefined) await cluster.client(Pod).delete(first);
    await cluster.settle();
    expect(running()).toHaveLength(2);
    expect(given(cluster)).toEqual(["node-1/gpu-0", "node-2/gpu-0"]);

    await cluster.client(Deployment).scale({ name: "web" }, 0);
    await cluster.settle();

    expect(cluster.objects(ResourceClaim)).toEqual([]);
  });

  test("may ask for them as an extended resource, within a quota", async () => {
    await using cluster = await open(seed);
    const changes = { spec: { extendedResourceName: GPU } };
    await cluster.client(DeviceClass).patch({ name: "gpu" }, { type: "merge", changes });
    const hard = { [`requests.${GPU}`]: "2", "gpu.deviceclass.resource.k8s.io/devices": "2" };
    await cluster.client(ResourceQuota).create({ metadata: { name: "q" }, spec: { hard } });
    await cluster.settle();
    const containers = [{ name: "main", image: "app", resources: { limits: { [GPU]: "1" } } }];
    const make = (name: string): Promise<Pod> =>
      cluster.client(Pod).create({ metadata: { name }, spec: { containers } } as Manifest<Pod>);
    for (const name of ["a", "b"]) await make(name);
    await cluster.clock.advance("10m");

    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(["Running", "Running"]);
    expect(given(cluster)).toEqual(["node-1/gpu-0", "node-2/gpu-0"]);
    expect(cluster.objects(ResourceQuota)[0]?.status.used).toEqual(hard);
    await expect(make("c")).rejects.toThrow(`exceeded quota: q, requested: requests.${GPU}=1`);

    for (const name of ["a", "b"]) await cluster.client(Pod).delete({ name });
    await cluster.settle();
    expect(cluster.objects(ResourceClaim)).toEqual([]);
  });

  test("may use what other pods have when they are put on a node by hand", async () => {
    await using cluster = await open(seed);
    await cluster.client(ResourceClaim).create({ metadata: { name: "mine" }, spec: DEVICES });
    const spec = { containers: CONTAINERS, resourceClaims: [{ name: "gpu", resourceClaimName: "mine" }] };
    await cluster.client(Pod).create({ metadata: { name: "placed" }, spec } as Manifest<Pod>);
    await cluster.settle();
    const nodeName = cluster.objects(Pod, "default")[0]?.spec.nodeName;
    await cluster
      .client(Pod)
      .create({ metadata: { name: "put" }, spec: { ...spec, nodeName } } as Manifest<Pod>);
    await cluster.clock.advance("30s");

    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(["Running", "Running"]);
    expect(cluster.objects(ResourceClaim)[0]?.status.reservedFor).toMatchObject([
      { name: "placed" },
      { name: "put" },
    ]);
  });

  test("go when their device is tainted, and are replaced where there is another", async () => {
    await using cluster = await open(seed);
    await deploy(cluster, 1);
    await cluster.settle();
    const [pool = ""] = given(cluster).map((device) => device.split("/")[0] ?? "");
    const [pod] = cluster.objects(Pod, "default");
    const taints = [{ key: "broken", effect: "NoExecute" }];
    const changes = { spec: { devices: [{ name: "gpu-0", taints }] } };
    await cluster.client(ResourceSlice).patch({ name: pool }, { type: "merge", changes });
    await cluster.settle();

    const pods = cluster.objects(Pod, "default");
    expect(pods.map(({ status }) => status.phase)).toEqual(["Running"]);
    expect(pods[0]?.metadata.uid).not.toBe(pod?.metadata.uid);
    expect(given(cluster)).toEqual([pool === "node-1" ? "node-2/gpu-0" : "node-1/gpu-0"]);
    expect(cluster.objects(Event, "default").map(({ reason }) => reason)).toContain(
      "DeviceTaintManagerEviction",
    );
  });

  test("are evicted once their claim's toleration of a taint ends, and no timer remains without them", async () => {
    await using cluster = await open(seed);
    const taints = [{ key: "worn", effect: "NoExecute" }];
    for (const name of ["node-1", "node-2"]) {
      const changes = { spec: { devices: [{ name: "gpu-0", taints }] } };
      await cluster.client(ResourceSlice).patch({ name }, { type: "merge", changes });
    }
    const tolerations = [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 3600 }] as const;
    const exactly = { deviceClassName: "gpu", tolerations };
    const devices = { requests: [{ name: "one", exactly }] };
    const claim = await cluster
      .client(ResourceClaim)
      .create({ metadata: { name: "idle" }, spec: { devices } });
    const results = [{ request: "one", driver: DRIVER, pool: "node-1", device: "gpu-0", tolerations }];
    await cluster.client(ResourceClaim).updateStatus(claim, { allocation: { devices: { results } } });
    const began = cluster.clock.now();
    await cluster.settle();
    expect(cluster.clock.now() - began).toBeLessThan(60_000);

    await cluster.client(ResourceClaim).create({ metadata: { name: "mine" }, spec: { devices } });
    const resourceClaims = [{ name: "gpu", resourceClaimName: "mine" }];
    await cluster.client(Pod).create({
      metadata: { name: "web" },
      spec: { containers: CONTAINERS, resourceClaims },
    } as Manifest<Pod>);
    await cluster.clock.advance("30s");
    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(["Running"]);

    await cluster.clock.advance("61m");
    expect(cluster.objects(Pod, "default")).toEqual([]);
  });

  test("do not run on a node that they were put on by hand, before their claim is reserved for them", async () => {
    await using cluster = await open(seed);
    await cluster.client(ResourceClaim).create({ metadata: { name: "mine" }, spec: DEVICES });
    await cluster.client(Pod).create({
      metadata: { name: "web" },
      spec: {
        nodeName: "node-1",
        containers: CONTAINERS,
        resourceClaims: [{ name: "gpu", resourceClaimName: "mine" }],
      },
    } as Manifest<Pod>);
    await cluster.settle();

    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(["Pending"]);
    expect(cluster.objects(Event, "default").map(({ reason, message }) => [reason, message])).toContainEqual([
      "FailedPrepareDynamicResources",
      expect.stringMatching(
        /^Failed to prepare dynamic resources: pod web \(.*\) is not allowed to use ResourceClaim mine \(.*\)$/,
      ),
    ]);

    const [pod] = cluster.objects(Pod, "default");
    const [claim] = cluster.objects(ResourceClaim);
    if (pod === undefined || claim === undefined) throw new Error("there is a pod with its claim");
    await cluster.client(ResourceClaim).updateStatus(claim, {
      allocation: { devices: {} },
      reservedFor: [{ resource: "pods", name: "web", uid: pod.metadata.uid }],
    });
    await cluster.clock.advance("15s");

    expect(cluster.objects(Pod, "default").map(({ status }) => status.phase)).toEqual(["Running"]);
  });
});

/** Two of three nodes have a device. */
async function open(seed: number): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, nodes: 3 });
  await cluster.settle();
  await cluster.client(DeviceClass).create({ metadata: { name: "gpu" }, spec: {} });
  for (const nodeName of ["node-1", "node-2"]) {
    await cluster.client(ResourceSlice).create({
      metadata: { name: nodeName },
      spec: {
        driver: DRIVER,
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices: [{ name: "gpu-0" }],
      },
    });
  }
  return cluster;
}

async function deploy(cluster: Cluster, replicas: number): Promise<void> {
  await cluster.client(ResourceClaimTemplate).create({ metadata: { name: "gpus" }, spec: { spec: DEVICES } });
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: CONTAINERS,
          resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }],
        },
      },
    },
  } as Manifest<Deployment>);
}

function given(cluster: Cluster): readonly string[] {
  return cluster
    .objects(ResourceClaim)
    .flatMap(({ status }) => status.allocation?.devices.results ?? [])
    .map(({ pool, device }) => `${pool}/${device}`)
    .toSorted();
}
