import { describe, expect, test } from "vitest";
import { Node, Pod, type PodSpec } from "../../src/api/generated/types/core-v1.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { nodeLoops } from "../../src/cluster/loops/loops.ts";
import { find, openCluster } from "./agent-fixture.ts";

const BLOCKS = ["10.128.7.0/24", "fd00:10:128:7::/64"];

describe.each([1, 2])("where there are two families of addresses, seed %s", (seed) => {
  test("a pod has one of each block of its node, in their order", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], nodes: 1, seed });
    await giveBlocks(cluster);
    await create(cluster, "web");
    await cluster.settle();

    const { podIP = "", podIPs = [] } = find(cluster, "web").status;
    const [first, second = ""] = podIPs.map(({ ip }) => ip);
    expect(podIPs).toHaveLength(2);
    expect(first).toBe(podIP);
    expect(podIP).toMatch(/^10\.128\.7\.\d+$/);
    expect(second).toMatch(/^fd00:10:128:7::[\da-f]+$/);
  });

  test("a pod shows its own again when others were written in their place", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], nodes: 1, seed });
    await giveBlocks(cluster);
    await create(cluster, "web");
    await cluster.settle();
    const { podIP, podIPs, hostIPs } = find(cluster, "web").status;
    const [other, machine] = ["10.128.7.99", "172.18.0.99"];
    const status = { podIP: other, podIPs: [{ ip: other }], hostIP: machine, hostIPs: [{ ip: machine }] };
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "merge", changes: { status } }, { subresource: "status" });
    await cluster.settle();

    expect(find(cluster, "web").status).toMatchObject({ podIP, podIPs, hostIPs });
  });

  test("pods keep theirs when the agent starts anew, and give them back when they go", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], seed });
    const first = cluster.run(nodeLoops(1));
    await giveBlocks(cluster);
    for (let i = 0; i < 10; i++) await create(cluster, `old-${i}`);
    await cluster.settle();
    await first.stop();
    cluster.run(nodeLoops(1));
    await cluster.client(Pod).delete({ name: "old-0" }, { gracePeriodSeconds: 0 });
    for (let i = 0; i < 10; i++) await create(cluster, `new-${i}`);
    await cluster.settle();

    const all = cluster.objects(Pod, "default").flatMap(({ status }) => status.podIPs ?? []);
    expect(all).toHaveLength(38);
    expect(new Set(all.map(({ ip }) => ip)).size).toBe(38);
  });

  test("a machine has one of each, and so has a pod in its network", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], seed });
    cluster.run(nodeLoops(1, { families: ["IPv4", "IPv6"] }));
    await cluster.settle();
    await create(cluster, "web", { hostNetwork: true });
    await cluster.settle();

    const addresses = ["172.18.0.2", "fd00:172:18::2"];
    const both = addresses.map((ip) => ({ ip }));
    expect(cluster.objects(Node)[0]?.status.addresses).toEqual([
      ...addresses.map((address) => ({ address, type: "InternalIP" })),
      { address: "node-1", type: "Hostname" },
    ]);
    expect(find(cluster, "web").status).toMatchObject({
      hostIP: "172.18.0.2",
      hostIPs: both,
      podIP: "172.18.0.2",
      podIPs: both,
    });
  });

  test("a machine that had one is found with both after its agent was told so", async () => {
    await using cluster = await openCluster({ clock: "virtual", loops: [], seed });
    const first = cluster.run(nodeLoops(1));
    await cluster.settle();
    await first.stop();
    cluster.run(nodeLoops(1, { families: ["IPv6", "IPv4"] }));
    await cluster.settle();

    const addresses = cluster.objects(Node)[0]?.status.addresses ?? [];
    expect(addresses.map(({ address }) => address)).toEqual(["fd00:172:18::2", "172.18.0.2", "node-1"]);
  });
});

async function giveBlocks(cluster: Cluster): Promise<void> {
  await cluster.settle();
  const changes = { spec: { podCIDR: BLOCKS[0], podCIDRs: BLOCKS } };
  await cluster.client(Node).patch({ name: "node-1" }, { type: "merge", changes });
  await cluster.settle();
}

async function create(cluster: Cluster, name: string, more: Partial<PodSpec> = {}): Promise<void> {
  const containers = [{ name: "web", image: "web:1" }];
  await cluster.client(Pod).create({ metadata: { name }, spec: { nodeName: "node-1", containers, ...more } });
}
