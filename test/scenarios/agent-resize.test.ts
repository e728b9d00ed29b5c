/** Pods are resized while they run. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { container, find, openCluster } from "./agent-fixture.ts";

const ONE_NODE = { clock: "virtual", loops: [], nodes: 1, seed: 1 } as const;

const RESTART_FOR_MEMORY = { resourceName: "memory", restartPolicy: "RestartContainer" };
const RESTART_FOR_CPU = { resourceName: "cpu", restartPolicy: "RestartContainer" };

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
    await using cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", { cpu: "1", memory: "100Mi" }, { resizePolicy });
    await cluster.settle();
    await resize(cluster, "web", requests);
    await cluster.settle();

    expect(container(cluster, "web")).toMatchObject({ restartCount, ready: true, resources: { requests } });
    expect(find(cluster, "web").status).toMatchObject({ phase: "Running", observedGeneration: 2 });
  });

  test("starts anew after its agent was replaced, too", async () => {
    await using cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", { cpu: "1", memory: "100Mi" }, { resizePolicy });
    await cluster.settle();

    await using next = await cluster.fork();
    await next.settle();
    await resize(next, "web", { memory: "200Mi" });
    await next.settle();
    expect(container(next, "web").restartCount).toBe(1);
  });
});

test("a container that asks for nothing shows so, also when it has ended", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, "web", {}, { resources: {} });
  await create(cluster, "over", { cpu: "1" }, { command: ["true"] });
  await cluster.settle();

  expect(container(cluster, "web").resources).toEqual({});
  expect(container(cluster, "over")).toMatchObject({
    state: { waiting: {} },
    allocatedResources: { cpu: "1" },
    resources: { requests: { cpu: "1" } },
  });
});

describe("Events", () => {
  const told = (cluster: Cluster, name: string): readonly string[] =>
    cluster
      .objects(Event)
      .filter(
        ({ involvedObject, reason = "" }) => involvedObject.name === name && reason.startsWith("Resize"),
      )
      .map(({ type, message }) => `${type} ${message}`);
  const sizes = (cpu: string, generation: number): string =>
    `{"containers":[{"name":"web","resources":{"requests":{"cpu":"${cpu}"}}}],"generation":${generation}`;

  test("tell when a pod gets another size, and when it has it", async () => {
    await using cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", { cpu: "1" });
    await cluster.settle();
    await resize(cluster, "web", { cpu: "2" });
    await cluster.settle();

    expect(told(cluster, "web")).toEqual([
      `Normal Pod resize started: ${sizes("2", 2)}}`,
      `Normal Pod resize completed: ${sizes("2", 2)}}`,
    ]);
  });

  test("tell once why a size must wait", async () => {
    await using cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", { cpu: "2" });
    await create(cluster, "other", { cpu: "5" });
    await cluster.settle();
    await resize(cluster, "web", { cpu: "4" });
    await cluster.settle();
    await using next = await cluster.fork();
    await next.settle();

    const lack = "Node didn't have enough resource: cpu, requested: 4000, used: 5000, capacity: 8000";
    expect(told(next, "web")).toEqual([`Warning Pod resize Deferred: ${sizes("4", 2)},"error":"${lack}"}`]);
  });
});

test("a container has its old size until it has ended for the new one, also for the next agent", async () => {
  await using cluster = await openCluster(ONE_NODE);
  const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
  const [before, after] = [{ memory: "100Mi" }, { memory: "200Mi" }];
  await create(cluster, "web", before, { resizePolicy });
  const annotations = { "simulated.setpoint.dev/termination-time": "10s" };
  await cluster.client(Pod).patch({ name: "web" }, { type: "merge", changes: { metadata: { annotations } } });
  await cluster.settle();
  await resize(cluster, "web", after);
  await cluster.clock.advance("2s");
  expect(container(cluster, "web")).toMatchObject({
    restartCount: 0,
    allocatedResources: after,
    resources: { requests: before },
  });
  expect(inProgress(cluster)).toMatchObject({ status: "True", observedGeneration: 2 });

  await using next = await cluster.fork();
  await next.clock.advance("30s");
  expect(container(next, "web")).toMatchObject({ restartCount: 1, resources: { requests: after } });
  expect(inProgress(next)).toBeUndefined();
});

describe("a pod that asks for more than its node has left", () => {
  const pending = (cluster: Cluster): unknown =>
    find(cluster, "web").status.conditions?.find(({ type }) => type === "PodResizePending");

  async function openCrowded(): Promise<Cluster> {
    const cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", { cpu: "2" });
    await create(cluster, "other", { cpu: "5" });
    await cluster.settle();
    await resize(cluster, "web", { cpu: "4" });
    await cluster.settle();
    return cluster;
  }

  test("keeps what it has, and says why", async () => {
    await using cluster = await openCrowded();

    expect(pending(cluster)).toMatchObject({
      status: "True",
      reason: "Deferred",
      message: "Node didn't have enough resource: cpu, requested: 4000, used: 5000, capacity: 8000",
      observedGeneration: 2,
    });
    const had = { requests: { cpu: "2" } };
    expect(container(cluster, "web")).toMatchObject({ resources: had, allocatedResources: had.requests });
  });

  test.each([
    ["leaves", (cluster: Cluster) => cluster.client(Pod).delete({ name: "other" })],
    ["shrinks", (cluster: Cluster) => resize(cluster, "other", { cpu: "1" })],
  ])("gets it when another one %s", async (_, makeRoom) => {
    await using cluster = await openCrowded();
    await makeRoom(cluster);
    await cluster.settle();

    expect(pending(cluster)).toBeUndefined();
    expect(container(cluster, "web")).toMatchObject({
      resources: { requests: { cpu: "4" } },
      restartCount: 0,
    });
  });

  test("goes on waiting when its agent is replaced", async () => {
    await using cluster = await openCrowded();

    await using next = await cluster.fork();
    await next.settle();
    expect(find(next, "web").status).toEqual(find(cluster, "web").status);
    await next.client(Pod).delete({ name: "other" });
    await next.settle();
    expect(container(next, "web").resources).toEqual({ requests: { cpu: "4" } });
  });

  test("no longer waits when it asks for what it has", async () => {
    await using cluster = await openCrowded();
    await resize(cluster, "web", { cpu: "2" });
    await cluster.settle();

    expect(pending(cluster)).toBeUndefined();
  });
});

describe("a pod that asks for more as a whole", () => {
  async function openCrowded(cpu: string): Promise<Cluster> {
    const cluster = await openCluster(ONE_NODE);
    const spec = {
      nodeName: "node-1",
      resources: { requests: { cpu: "2" } },
      containers: [{ name: "web", image: "web:1" }],
    };
    await cluster.client(Pod).create({ metadata: { name: "web" }, spec });
    await create(cluster, "other", { cpu: "5" });
    await cluster.settle();
    const changes = { spec: { resources: { requests: { cpu } } } };
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "strategic", changes }, { subresource: "resize" });
    await cluster.settle();
    return cluster;
  }
  const sized = (cpu: string): object => ({ resources: { requests: { cpu } }, allocatedResources: { cpu } });

  test("gets it where there is room", async () => {
    await using cluster = await openCrowded("3");

    expect(find(cluster, "web").status).toMatchObject({
      phase: "Running",
      observedGeneration: 2,
      ...sized("3"),
    });
  });

  test("waits where there is none, also for the next agent, until another one leaves", async () => {
    await using cluster = await openCrowded("4");
    const { status } = find(cluster, "web");
    expect(status).toMatchObject(sized("2"));
    expect(status.conditions).toContainEqual(
      expect.objectContaining({
        type: "PodResizePending",
        reason: "Deferred",
        message: "Node didn't have enough resource: cpu, requested: 4000, used: 5000, capacity: 8000",
      }),
    );

    await using next = await cluster.fork();
    await next.settle();
    expect(find(next, "web").status).toEqual(status);
    await next.client(Pod).delete({ name: "other" });
    await next.settle();

    expect(find(next, "web").status).toMatchObject(sized("4"));
    expect(find(next, "web").status.conditions?.map(({ type }) => type)).not.toContain("PodResizePending");
  });
});

describe("a container whose limits are those of its pod", () => {
  test.each<[string, object, number]>([
    ["starts anew when its policy wants that", {}, 1],
    ["does not when it has its own", { resources: { limits: { memory: "50Mi" } } }, 0],
    ["does not when another amount changed", { resizePolicy: [RESTART_FOR_CPU] }, 0],
  ])("%s", async (_, more, restartCount) => {
    await using cluster = await openCluster(ONE_NODE);
    await createWhole(cluster, { resizePolicy: [RESTART_FOR_MEMORY], ...more });
    await resizeWhole(cluster, { limits: { memory: "200Mi" } });

    expect(container(cluster, "web")).toMatchObject({ restartCount, ready: true });
    expect(find(cluster, "web").status).toMatchObject({ resources: { limits: { memory: "200Mi" } } });
  });

  test("runs on under its next agent", async () => {
    await using cluster = await openCluster(ONE_NODE);
    await createWhole(cluster, { resizePolicy: [RESTART_FOR_MEMORY] });
    await using next = await cluster.fork();
    await next.settle();
    expect(container(next, "web").restartCount).toBe(0);

    await resizeWhole(next, { limits: { memory: "200Mi" } });
    expect(container(next, "web").restartCount).toBe(1);
  });
});

test("what a pod that shrinks gives up is there for others", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, "web", { cpu: "6" });
  await cluster.settle();
  await resize(cluster, "web", { cpu: "1" });
  await cluster.settle();
  await create(cluster, "other", { cpu: "6" });
  await cluster.settle();

  expect(find(cluster, "other").status.phase).toBe("Running");
});

describe("a pod that is to have less memory than it uses", () => {
  const MiB = 2 ** 20;

  async function openShrunk(): Promise<Cluster> {
    const cluster = await openCluster(ONE_NODE);
    await create(cluster, "web", {}, { resources: { limits: { memory: "300Mi", cpu: "2" } } });
    await annotate(cluster, "200Mi");
    await cluster.settle();
    await shrink(cluster, { memory: "100Mi", cpu: "1" });
    await cluster.settle();
    return cluster;
  }

  async function annotate(cluster: Cluster, memory: string): Promise<void> {
    const changes = { metadata: { annotations: { "simulated.setpoint.dev/memory": memory } } };
    await cluster.client(Pod).patch({ name: "web" }, { type: "merge", changes });
  }

  async function shrink(cluster: Cluster, limits: Requests): Promise<void> {
    const containers = [{ name: "web", resources: { limits, requests: limits } }];
    const changes = { spec: { containers } };
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "strategic", changes }, { subresource: "resize" });
  }

  test("keeps what it has, and says why", async () => {
    await using cluster = await openShrunk();

    const numbers = `memory limit (${100 * MiB}) below current usage (${200 * MiB})`;
    const message = `cannot decrease memory limits: [attempting to set pod ${numbers}, attempting to set container "web" ${numbers}]`;
    expect(inProgress(cluster)).toMatchObject({
      status: "True",
      reason: "Error",
      message,
      observedGeneration: 2,
    });
    expect(container(cluster, "web")).toMatchObject({
      restartCount: 0,
      allocatedResources: { memory: "100Mi", cpu: "1" },
      resources: { limits: { memory: "300Mi", cpu: "2" } },
    });
    const told = cluster.objects(Event).filter(({ reason }) => reason === "ResizeError");
    expect(told).toHaveLength(1);
    expect(told[0]?.message).toMatch(/^Pod resize error: \{.*"generation":2,"error":"cannot decrease memory/);
  });

  test("gets its size when it uses less", async () => {
    await using cluster = await openShrunk();
    await annotate(cluster, "50Mi");
    await cluster.settle();

    expect(inProgress(cluster)).toBeUndefined();
    expect(container(cluster, "web").resources?.limits).toEqual({ memory: "100Mi", cpu: "1" });
    expect(cluster.objects(Event).map(({ reason }) => reason)).toContain("ResizeCompleted");
  });

  test("keeps what it has as a whole", async () => {
    await using cluster = await openCluster(ONE_NODE);
    await createWhole(cluster, {});
    await annotate(cluster, "40Mi");
    await resizeWhole(cluster, { limits: { memory: "10Mi" }, requests: { memory: "10Mi" } });

    const message = `cannot decrease memory limits: attempting to set pod memory limit (${10 * MiB}) below current usage (${40 * MiB})`;
    expect(find(cluster, "web").status.resources?.limits).toEqual({ memory: "100Mi" });
    expect(inProgress(cluster)).toMatchObject({ reason: "Error", message });
  });

  test("is told no more of it when it asks for what it has", async () => {
    await using cluster = await openShrunk();
    await shrink(cluster, { memory: "300Mi", cpu: "2" });
    await cluster.settle();

    expect(inProgress(cluster)).toBeUndefined();
    expect(container(cluster, "web").resources?.limits).toEqual({ memory: "300Mi", cpu: "2" });
  });
});

function inProgress(cluster: Cluster): unknown {
  return find(cluster, "web").status.conditions?.find(({ type }) => type === "PodResizeInProgress");
}

async function createWhole(cluster: Cluster, more: object): Promise<void> {
  const resources = { requests: { memory: "100Mi" }, limits: { memory: "100Mi" } };
  const containers = [{ name: "web", image: "web:1", ...more }];
  const spec = { nodeName: "node-1", resources, containers } as Spec;
  await cluster.client(Pod).create({ metadata: { name: "web" }, spec });
  await cluster.settle();
}

async function resizeWhole(cluster: Cluster, resources: object): Promise<void> {
  const changes = { spec: { resources } };
  await cluster.client(Pod).patch({ name: "web" }, { type: "strategic", changes }, { subresource: "resize" });
  await cluster.settle();
}

async function create(cluster: Cluster, name: string, requests: Requests, more: object = {}): Promise<Pod> {
  const containers = [{ name: "web", image: "web:1", resources: { requests }, ...more }];
  const spec = { nodeName: "node-1", containers };
  return cluster.client(Pod).create({ metadata: { name }, spec });
}

async function resize(cluster: Cluster, name: string, requests: Requests): Promise<void> {
  const containers = [{ name: "web", resources: { requests } }];
  await cluster
    .client(Pod)
    .patch({ name }, { type: "strategic", changes: { spec: { containers } } }, { subresource: "resize" });
}
