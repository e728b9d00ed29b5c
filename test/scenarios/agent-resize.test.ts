/** Pods are given another size while they run. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Pod, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import type { ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import { startCluster, type Cluster } from "../../src/cluster/start-cluster.ts";

type Spec = NonNullable<Manifest<Pod>["spec"]>;
type Requests = Readonly<Record<string, string>>;

describe("a container that is given another size", () => {
  const resizePolicy = [
    { resourceName: "cpu", restartPolicy: "NotRequired" },
    { resourceName: "memory", restartPolicy: "RestartContainer" },
  ];

  test.each<[string, Requests, number]>([
    ["runs on when its policy allows that", { cpu: "2", memory: "100Mi" }, 0],
    ["starts anew when its policy wants that", { cpu: "2", memory: "200Mi" }, 1],
  ])("%s", async (_, requests, restartCount) => {
    await using cluster = await openCluster();
    await create(cluster, "web", { cpu: "1", memory: "100Mi" }, { resizePolicy });
    await cluster.settle();
    await resize(cluster, "web", requests);
    await cluster.settle();

    expect(container(cluster, "web")).toMatchObject({ restartCount, ready: true, resources: { requests } });
    expect(find(cluster, "web").status).toMatchObject({ phase: "Running", observedGeneration: 2 });
  });

  test("starts anew after its agent was replaced, too", async () => {
    await using cluster = await openCluster();
    await create(cluster, "web", { cpu: "1", memory: "100Mi" }, { resizePolicy });
    await cluster.settle();

    await using next = await cluster.fork();
    await next.settle();
    await resize(next, "web", { memory: "200Mi" });
    await next.settle();
    expect(container(next, "web").restartCount).toBe(1);
  });
});

test("what a pod that shrinks gives up is there for others", async () => {
  await using cluster = await openCluster();
  await create(cluster, "web", { cpu: "6" });
  await cluster.settle();
  await resize(cluster, "web", { cpu: "1" });
  await cluster.settle();
  await create(cluster, "other", { cpu: "6" });
  await cluster.settle();

  expect(find(cluster, "other").status.phase).toBe("Running");
});

async function create(cluster: Cluster, name: string, requests: Requests, more: object = {}): Promise<Pod> {
  const containers = [{ name: "web", image: "web:1", resources: { requests }, ...more }];
  const spec = { nodeName: "node-1", containers } as unknown as Spec;
  return cluster.client(Pod).create({ metadata: { name }, spec });
}

async function resize(cluster: Cluster, name: string, requests: Requests): Promise<void> {
  const containers = [{ name: "web", resources: { requests } }];
  await cluster
    .client(Pod)
    .patch({ name }, { type: "strategic", changes: { spec: { containers } } }, { subresource: "resize" });
}

function find(cluster: Cluster, name: string): Pod {
  const found = cluster.objects(Pod, "default").find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
}

function container(cluster: Cluster, name: string): ContainerStatus {
  const [found] = find(cluster, name).status.containerStatuses ?? [];
  if (found === undefined) throw new Error(`the pod ${name} has no container`);
  return found;
}

/** Pods need an account, which another loop would make. */
async function openCluster(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", loops: [], nodes: 1, seed: 1 });
  await cluster.client(ServiceAccount).apply({ metadata: { name: "default", namespace: "default" } });
  return cluster;
}
