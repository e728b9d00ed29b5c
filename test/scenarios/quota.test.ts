/** Quotas with the controllers that depend on them. */
import { describe, expect, test } from "vitest";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Event, Pod, ResourceQuota } from "../../src/api/generated/types/core-v1.ts";
import { ResourceClaim } from "../../src/api/generated/types/resource-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOPS = ["replicaset-controller", "resourcequota-controller"];
const NAMESPACE = "default";

async function bound(cluster: Cluster, hard: Readonly<Record<string, string>>): Promise<void> {
  await cluster.client(ResourceQuota).create({
    metadata: { name: "q", namespace: NAMESPACE },
    spec: { hard },
  });
  await cluster.settle();
}

async function raise(cluster: Cluster, hard: Readonly<Record<string, string>>): Promise<void> {
  const key = { namespace: NAMESPACE, name: "q" };
  await cluster.client(ResourceQuota).patch(key, { type: "merge", changes: { spec: { hard } } });
}

async function createSet(cluster: Cluster, replicas: number): Promise<ReplicaSet> {
  return cluster.client(ReplicaSet).create({
    metadata: { name: "web", namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web:1" }] },
      },
    },
  });
}

function quotaStatus(cluster: Cluster): ResourceQuota["status"] | undefined {
  return cluster.objects(ResourceQuota)[0]?.status;
}

describe.each([1, 2, 3])("a quota, seed %s", (seed) => {
  test("that is too small makes a ReplicaSet say so and back off, and when it is raised all its pods come", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await bound(cluster, { pods: "2" });
    await createSet(cluster, 5);
    await cluster.clock.advance("1m");

    const [short] = cluster.objects(ReplicaSet);
    const pods = cluster.objects(Pod).length;
    const failures = cluster.objects(Event).filter(({ reason }) => reason === "FailedCreate");
    const tries = failures.map(({ count = 1 }) => count);
    await raise(cluster, { pods: "10" });
    await cluster.settle({ within: "30m" });

    expect(pods).toBe(2);
    expect(short?.status.conditions).toEqual([
      expect.objectContaining({ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }),
    ]);
    expect(short?.status.conditions?.[0]?.message).toMatch(
      /^pods "web-[a-z0-9]{5}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2$/,
    );
    expect(failures[0]?.message).toMatch(
      /^Error creating: pods "web-[a-z0-9]{5}" is forbidden: exceeded quota/,
    );
    expect(tries.length).toBeLessThan(40);
    expect(cluster.objects(Pod)).toHaveLength(5);
    const [whole] = cluster.objects(ReplicaSet);
    expect(whole?.status.conditions ?? []).toEqual([]);
    expect(quotaStatus(cluster)).toEqual({ hard: { pods: "10" }, used: { pods: "5" } });
  });

  test("that comes while pods are made counts each of them in the end", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await createSet(cluster, 40);
    await bound(cluster, { pods: "900" });

    expect(cluster.objects(Pod)).toHaveLength(40);
    expect(quotaStatus(cluster)).toEqual({ hard: { pods: "900" }, used: { pods: "40" } });
  });

  test("that comes late counts what is there, also what is in no cache", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await createSet(cluster, 3);
    for (const name of ["a", "b"])
      await cluster.client(ConfigMap).create({ metadata: { name, namespace: NAMESPACE } });
    await cluster.settle();

    const hard = {
      pods: "5",
      configmaps: "9",
      "count/replicasets.apps": "1",
      "count/widgets.example.com": "1",
    };
    await bound(cluster, hard);

    expect(quotaStatus(cluster)).toEqual({
      hard,
      used: { configmaps: "2", "count/replicasets.apps": "1", "count/widgets.example.com": "0", pods: "3" },
    });
  });

  test("that comes late counts the devices that claims may get", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    const requests = [{ name: "one", exactly: { deviceClassName: "gpu", count: 3 } }];
    await cluster.client(ResourceClaim).create({
      metadata: { name: "mine", namespace: NAMESPACE },
      spec: { devices: { requests } },
    });

    const hard = {
      "count/resourceclaims.resource.k8s.io": "5",
      "gpu.deviceclass.resource.k8s.io/devices": "9",
    };
    await bound(cluster, hard);

    expect(quotaStatus(cluster)?.used).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      "gpu.deviceclass.resource.k8s.io/devices": "3",
    });
  });

  test("is corrected within five minutes after a client wrote nonsense into it", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await bound(cluster, { pods: "5" });
    await createSet(cluster, 2);
    await cluster.settle();
    const [quota] = cluster.objects(ResourceQuota);
    await cluster.client(ResourceQuota).updateStatus(quota as ResourceQuota, {
      hard: { pods: "5" },
      used: { pods: "4" },
    });

    await cluster.clock.advance("6m");

    expect(quotaStatus(cluster)?.used).toEqual({ pods: "2" });
  });

  test("is not written while nothing changes", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
    await bound(cluster, { pods: "5", secrets: "5" });
    await createSet(cluster, 2);
    await cluster.settle();
    const before = cluster.objects(ResourceQuota)[0]?.metadata.resourceVersion;

    await cluster.clock.advance("1h");

    expect(cluster.objects(ResourceQuota)[0]?.metadata.resourceVersion).toBe(before);
  });
});

test("pods of a namespace that is new are let in, because their account comes in time", async () => {
  await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 0 });
  const pod = await cluster.client(Pod).create({
    metadata: { name: "early", namespace: NAMESPACE },
    spec: { containers: [{ name: "web", image: "web:1" }] },
  });

  expect(pod.spec.serviceAccountName).toBe("default");
});
