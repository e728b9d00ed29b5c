import { describe, expect, test } from "vitest";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Lease } from "../../src/api/generated/types/coordination-v1.ts";
import { Event, Node, Pod, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { startCluster, type Cluster, type StartOptions } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops, nodeLoops } from "../../src/cluster/loops/loops.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";

const LOOPS = [
  "replicaset-controller",
  "node-controller",
  "taint-eviction-controller",
  "node-ipam-controller",
];
const DOWN = "simulated.setpoint.dev/down";

describe.each([1, 2, 3])("simulated nodes, seed %s", (seed) => {
  test("register, get addresses for their pods, and can be used", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 3 });
    await cluster.settle();

    const nodes = cluster.objects(Node);
    expect(nodes.map(({ metadata }) => metadata.name)).toEqual(["node-1", "node-2", "node-3"]);
    expect(nodes.map(({ spec }) => spec.taints)).toEqual([undefined, undefined, undefined]);
    expect(new Set(nodes.map(({ spec }) => spec.podCIDR)).size).toBe(3);
    expect(nodes.every(({ spec }) => /^10\.128\.\d+\.0\/24$/.test(spec.podCIDR ?? ""))).toBe(true);
    expect(nodes.map(({ status }) => status.conditions?.map(({ type }) => type))[0]).toEqual([
      "MemoryPressure",
      "DiskPressure",
      "PIDPressure",
      "Ready",
    ]);
  });

  test("renew their leases every ten seconds and write nothing else", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 3 });
    await cluster.clock.advance("1m");
    const [before] = cluster.objects(Lease, "kube-node-lease");
    const nodes = cluster.objects(Node);
    await cluster.clock.advance("1m");

    const [after] = cluster.objects(Lease, "kube-node-lease");
    expect(cluster.objects(Node)).toEqual(nodes);
    expect(after?.spec).toMatchObject({ holderIdentity: "node-1", leaseDurationSeconds: 40 });
    expect(after?.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Node", name: "node-1" });
    expect(after?.metadata.managedFields).toMatchObject([{ manager: "kubelet", operation: "Update" }]);
    const renewals = Date.parse(after?.spec.renewTime ?? "") - Date.parse(before?.spec.renewTime ?? "");
    expect(renewals).toBe(60_000);
  });

  test("leave alone what others have given them", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 1 });
    await cluster.settle();
    const node = await cluster.client(Node).patch(
      { name: "node-1" },
      {
        type: "merge",
        changes: {
          metadata: { labels: { disk: "fast" } },
          spec: { taints: [{ key: "mine", effect: "NoSchedule" }] },
        },
      },
    );
    await cluster.client(Node).updateStatus(node, {
      ...node.status,
      capacity: { ...node.status.capacity, "example.com/gpu": "2" },
      conditions: [...(node.status.conditions ?? []), { type: "Cool", status: "True" }],
    });
    await cluster.clock.advance("11m");
    await using next = await cluster.fork();
    await next.clock.advance("11m");

    const [after] = next.objects(Node);
    expect(after?.metadata.labels).toMatchObject({ disk: "fast", "kubernetes.io/hostname": "node-1" });
    expect(after?.spec.taints).toEqual([{ key: "mine", effect: "NoSchedule" }]);
    expect(after?.status.capacity).toMatchObject({ "example.com/gpu": "2", pods: "110" });
    expect(after?.status.conditions?.find(({ type }) => type === "Cool")?.status).toBe("True");
  });

  test("restore their own identity after another client changed it", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 1 });
    await cluster.settle();
    const [before] = cluster.objects(Node);
    const changes = { status: { nodeInfo: { kubeletVersion: "", machineID: "" } } };
    await cluster
      .client(Node)
      .patch({ name: "node-1" }, { type: "strategic", changes }, { subresource: "status" });
    await cluster.clock.advance("11s");

    expect(cluster.objects(Node)[0]?.status.nodeInfo).toEqual(before?.status.nodeInfo);
  });

  test("offer what others have given them, and nothing that they do not have", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 1 });
    await cluster.settle();
    const offer = async (capacity: object, allocatable: object): Promise<unknown> => {
      const changes = { status: { capacity, allocatable } };
      await cluster
        .client(Node)
        .patch({ name: "node-1" }, { type: "merge", changes }, { subresource: "status" });
      await cluster.clock.advance("11s");
      return cluster.objects(Node)[0]?.status.allocatable;
    };

    expect(await offer({ "example.com/gpu": "2" }, { "example.com/none": "1" })).toEqual({
      cpu: "8",
      "ephemeral-storage": "100Gi",
      "example.com/gpu": "2",
      memory: "32Gi",
      pods: "110",
    });
    expect(await offer({ "example.com/gpu": null }, {})).not.toHaveProperty("example.com/gpu");
  });

  test("are not made again when they were deleted, until the agent starts anew", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS });
    const agent = cluster.run(nodeLoops(2));
    await cluster.settle();
    await cluster.client(Node).delete({ name: "node-1" });
    await cluster.clock.advance("10m");
    expect(cluster.objects(Node).map(({ metadata }) => metadata.name)).toEqual(["node-2"]);

    await agent.stop();
    cluster.run(nodeLoops(2));
    await cluster.settle();
    expect(cluster.objects(Node).map(({ metadata }) => metadata.name)).toEqual(["node-1", "node-2"]);
  });

  test("that die are found unreachable, and ready again when they come back", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 3 });
    await cluster.settle();
    await setDown(cluster, "node-2", "true");
    await cluster.clock.advance("45s");
    expect(ready(cluster, "node-2")?.status).toBe("True");
    await cluster.clock.advance("20s");

    expect(ready(cluster, "node-2")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    expect(taints(cluster, "node-2")).toEqual([
      "node.kubernetes.io/unreachable:NoSchedule",
      "node.kubernetes.io/unreachable:NoExecute",
    ]);
    expect(eventReasons(cluster, "node-2")).toContain("NodeNotReady");

    await setDown(cluster, "node-2", null);
    await cluster.clock.advance("20s");
    expect(ready(cluster, "node-2")?.status).toBe("True");
    expect(taints(cluster, "node-2")).toEqual([]);
  });

  test("that were never heard of have a minute before pods are driven away from them", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 3 });
    await cluster.settle();
    await cluster.client(Node).create({ metadata: { name: "new" } });
    await cluster.clock.advance("55s");
    const early = taints(cluster, "new");
    await cluster.clock.advance("15s");

    expect(early).toEqual([]);
    expect(taints(cluster, "new")).toEqual([
      "node.kubernetes.io/unreachable:NoSchedule",
      "node.kubernetes.io/unreachable:NoExecute",
    ]);
  });

  test("that die lose their pods after the toleration time, and have none of them when they come back", async () => {
    await using cluster = await openCluster({
      clock: "virtual",
      seed,
      loops: LOOPS,
      nodes: 3,
      routines: [schedulerRoutine()],
    });
    await createReplicas(cluster, 9);
    await cluster.settle();
    const old = podsOn(cluster, "node-2").map(({ metadata }) => metadata.uid);
    expect(old.length).toBeGreaterThan(0);

    await setDown(cluster, "node-2", "true");
    await cluster.clock.advance("1m30s");
    expect(readyPods(cluster)).toHaveLength(9 - old.length);
    expect(cluster.objects(Pod, "default")).toHaveLength(9);
    await cluster.clock.advance("5m");

    expect(readyPods(cluster)).toHaveLength(9);
    expect(readyPods(cluster).some(({ spec }) => spec.nodeName === "node-2")).toBe(false);
    for (const pod of podsOn(cluster, "node-2")) {
      expect(pod.metadata.deletionTimestamp).toBeDefined();
      expect(pod.status.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
        status: "True",
        reason: "DeletionByTaintManager",
        observedGeneration: 1,
      });
    }

    await setDown(cluster, "node-2", null);
    await cluster.clock.advance("1m");
    expect(podsOn(cluster, "node-2").filter(({ metadata }) => old.includes(metadata.uid))).toEqual([]);
    expect(cluster.objects(Pod, "default")).toHaveLength(9);
  });

  test("that are alive without being ready are believed what they say of their pods", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: ["node-controller"], nodes: 0 });
    await cluster.client(Node).create({ metadata: { name: "n1" } });
    const report = async (status: "True" | "False"): Promise<void> => {
      const lastHeartbeatTime = new Date(cluster.clock.now()).toISOString();
      const conditions = [{ type: "Ready", status, reason: "Kubelet", lastHeartbeatTime }];
      await cluster.client(Node).updateStatus(await cluster.client(Node).get({ name: "n1" }), { conditions });
      await cluster.clock.advance("10s");
    };
    const start = async (): Promise<void> => {
      const pod = await cluster.client(Pod).get({ name: "p" });
      const conditions = [{ type: "Ready", status: "True" }] as const;
      await cluster.client(Pod).updateStatus(pod, { ...pod.status, conditions });
      await cluster.settle();
    };
    await report("False");
    const containers = [{ name: "c", image: "c" }];
    await cluster.client(Pod).create({ metadata: { name: "p" }, spec: { nodeName: "n1", containers } });
    await start();
    await report("False");
    expect(readyPods(cluster)).toHaveLength(1);

    await report("True");
    await report("False");
    expect(readyPods(cluster)).toHaveLength(0);
    await start();
    await report("False");
    expect(readyPods(cluster)).toHaveLength(1);
  });

  test("that die together drive their pods away one by one, and not at all when all are dark", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed, loops: LOOPS, nodes: 20 });
    await cluster.settle();
    const names = cluster.objects(Node).map(({ metadata }) => metadata.name);
    for (const name of names.slice(0, 8)) await setDown(cluster, name, "true");
    await cluster.clock.advance("65s");
    const soon = driving(cluster);
    await cluster.clock.advance("30s");
    const later = driving(cluster);

    expect(soon).toBeLessThanOrEqual(2);
    expect(later - soon).toBeGreaterThanOrEqual(2);
    expect(later - soon).toBeLessThanOrEqual(4);

    for (const name of names.slice(8)) await setDown(cluster, name, "true");
    await cluster.clock.advance("10m");
    expect(driving(cluster)).toBe(0);
    expect(names.every((name) => ready(cluster, name)?.status === "Unknown")).toBe(true);
  });
});

describe("50 pods of one node that fail at once", () => {
  test.each([1, 2])("are replaced one for one, without a burst, seed %s", async (seed) => {
    await using cluster = await openCluster({
      clock: "virtual",
      seed,
      loops: LOOPS,
      nodes: 2,
      routines: [schedulerRoutine()],
    });
    await cluster.settle();
    await cordon(cluster, "node-2", true);
    await createReplicas(cluster, 50);
    await cluster.settle();
    expect(podsOn(cluster, "node-1")).toHaveLength(50);
    await cordon(cluster, "node-2", false);

    await setDown(cluster, "node-1", "true");
    let most = 0;
    const active = (): readonly Pod[] =>
      cluster.objects(Pod, "default").filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const seen = cluster.until(
      () => {
        most = Math.max(most, active().length);
        return readyPods(cluster).length === 50 && podsOn(cluster, "node-2").length === 50;
      },
      { within: "10m" },
    );
    await seen;

    expect(most).toBe(50);
    expect(podsOn(cluster, "node-2")).toHaveLength(50);
  });
});

describe("Events of a node", () => {
  const STARTED = [
    "NodeAllocatableEnforced",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientMemory",
    "NodeHasSufficientPID",
    "NodeReady",
    "Starting",
  ];

  test("tell that it started, and how it is", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed: 1, loops: "none", nodes: 1 });
    await cluster.settle();

    expect(eventReasons(cluster, "node-1").toSorted()).toEqual(STARTED);
    const told = cluster.objects(Event).find(({ reason }) => reason === "NodeReady");
    expect(told).toMatchObject({
      type: "Normal",
      message: "Node node-1 status is now: NodeReady",
      involvedObject: { kind: "Node", name: "node-1" },
      source: { component: "kubelet", host: "node-1" },
    });
  });

  test("tell of an agent that was replaced that it started, not that the node got ready", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed: 1, loops: "none", nodes: 1 });
    await cluster.settle();
    await using next = await cluster.fork();
    await next.settle();

    const counts = (reason: string): readonly (number | undefined)[] =>
      next.objects(Event).flatMap((each) => (each.reason === reason ? [each.count] : []));
    expect(counts("Starting")).toEqual([1, 1]);
    expect(counts("NodeReady")).toEqual([1]);
  });
});

describe("a node pool", () => {
  test("gives each node a block of its own, also after the loop was replaced", async () => {
    await using cluster = await openCluster({ clock: "virtual", seed: 1, loops: "none", nodes: 40 });
    const first = cluster.run(builtInLoops(["node-ipam-controller"]));
    await cluster.until(() => blocks(cluster).length >= 5);
    await first.stop();
    cluster.run(builtInLoops(["node-ipam-controller"]));
    await cluster.settle();

    expect(blocks(cluster)).toHaveLength(40);
    expect(new Set(blocks(cluster)).size).toBe(40);
  });
});

function blocks(cluster: Cluster): readonly string[] {
  return cluster.objects(Node).flatMap(({ spec }) => spec.podCIDR ?? []);
}

function ready(
  cluster: Cluster,
  name: string,
): NonNullable<Node["status"]["conditions"]>[number] | undefined {
  const node = cluster.objects(Node).find(({ metadata }) => metadata.name === name);
  return node?.status.conditions?.find(({ type }) => type === "Ready");
}

function taints(cluster: Cluster, name: string): readonly string[] {
  const node = cluster.objects(Node).find(({ metadata }) => metadata.name === name);
  return (node?.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
}

function driving(cluster: Cluster): number {
  const drives = ({ spec }: Node): boolean =>
    (spec.taints ?? []).some(({ effect }) => effect === "NoExecute");
  return cluster.objects(Node).filter(drives).length;
}

function eventReasons(cluster: Cluster, name: string): readonly string[] {
  const about = cluster.objects(Event).filter(({ involvedObject }) => involvedObject.name === name);
  return about.map(({ reason = "" }) => reason);
}

function podsOn(cluster: Cluster, node: string): readonly Pod[] {
  return cluster.objects(Pod, "default").filter(({ spec }) => spec.nodeName === node);
}

function readyPods(cluster: Cluster): readonly Pod[] {
  const isReady = ({ status }: Pod): boolean =>
    (status.conditions ?? []).some(({ type, status: holds }) => type === "Ready" && holds === "True");
  return cluster.objects(Pod, "default").filter(isReady);
}

async function setDown(cluster: Cluster, name: string, value: "true" | null): Promise<void> {
  const changes = { metadata: { annotations: { [DOWN]: value } } };
  await cluster.client(Node).patch({ name }, { type: "merge", changes });
}

async function cordon(cluster: Cluster, name: string, unschedulable: boolean): Promise<void> {
  await cluster.client(Node).patch({ name }, { type: "merge", changes: { spec: { unschedulable } } });
  await cluster.settle();
}

async function createReplicas(cluster: Cluster, replicas: number): Promise<void> {
  const app = { app: "web" };
  await cluster.client(ReplicaSet).create({
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: app },
      template: {
        metadata: { labels: app },
        spec: {
          containers: [{ name: "web", image: "web:1" }],
          tolerations: ["not-ready", "unreachable"].map((word) => ({
            key: `node.kubernetes.io/${word}`,
            operator: "Exists" as const,
            effect: "NoExecute" as const,
            tolerationSeconds: 300,
          })),
        },
      },
    },
  });
}

/** Pods need a service account, which another controller would create. */
async function openCluster(options: StartOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  await cluster.client(ServiceAccount).apply({ metadata: { name: "default", namespace: "default" } });
  return cluster;
}
