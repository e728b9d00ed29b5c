/** Placement of pods by labels, taints and ports of nodes, and by other pods. */
import { describe, expect, test } from "vitest";
import { Namespace, Node, Pod, Service } from "../../src/api/generated/types/core-v1.ts";
import { podManifest, startSchedulerFixture, type SchedulerFixture } from "./scheduler-fixture.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

async function withNodes(
  nodes: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<SchedulerFixture> {
  const world = await startSchedulerFixture();
  for (const [name, labels] of Object.entries(nodes)) await world.addNode(name, { labels });
  await world.settle();
  return world;
}

async function countByNode(world: SchedulerFixture): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const place of Object.values(await world.places())) {
    if (place !== undefined) counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

describe("nodes are chosen by their labels", () => {
  const nodes = { a: { disk: "ssd", cores: "8" }, b: { disk: "hdd", cores: "64" }, c: { cores: "16" } };

  test.each([
    [{ key: "disk", operator: "In", values: ["hdd"] }, "b"],
    [{ key: "disk", operator: "DoesNotExist" }, "c"],
    [{ key: "cores", operator: "Gt", values: ["32"] }, "b"],
    [{ key: "cores", operator: "Lt", values: ["10"] }, "a"],
  ] as const)("with required affinity %o, %s is the only one", async (requirement, expected) => {
    const world = await withNodes(nodes);
    const nodeSelectorTerms = [{ matchExpressions: [requirement] }];
    await world.addPod("web", {
      spec: {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
        },
      },
    });
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe(expected);
  });

  test("a node named by a field is the only one that is looked at", async () => {
    const world = await withNodes(nodes);
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["gone"] }] as const;
    const required = { nodeSelectorTerms: [{ matchFields }] };
    await world.addPod("daemon", {
      spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } },
    });
    await world.settle();

    expect(await world.reason("daemon")).toBe(
      "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
        "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    );
  });

  test("a node selector that nothing matches is the reason, until a label is added", async () => {
    const world = await withNodes(nodes);
    await world.addPod("web", { spec: { nodeSelector: { gpu: "yes" } } });
    await world.settle();
    expect(await world.reason("web")).toContain("3 node(s) didn't match Pod's node affinity/selector.");

    const changes = { metadata: { labels: { gpu: "yes" } } };
    await world.run(world.client(Node).patch({ name: "c" }, { type: "merge", changes }));
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("c");
  });

  test("a preferred node wins over emptier ones", async () => {
    const world = await withNodes(nodes);
    const preference = { matchExpressions: [{ key: "disk", operator: "In", values: ["hdd"] }] } as const;
    const preferred = [{ weight: 100, preference }];
    for (const name of ["one", "two"]) {
      await world.addPod(name, {
        spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } },
      });
    }
    await world.settle();

    expect(await world.places()).toEqual({ one: "b", two: "b" });
  });
});

describe("taints", () => {
  test("keep pods away that do not tolerate them", async () => {
    const world = await startSchedulerFixture();
    const taints = [{ key: "dedicated", value: "db", effect: "NoSchedule" }] as const;
    await world.addNode("a", { spec: { taints } });
    await world.addPod("web");
    await world.addPod("db", {
      spec: { tolerations: [{ key: "dedicated", operator: "Equal", value: "db" }] },
    });
    await world.settle();

    expect(await world.places()).toEqual({ db: "a", web: undefined });
  });

  test("that only make a node less welcome leave it as the last resort", async () => {
    const world = await startSchedulerFixture();
    await world.addNode("a", { spec: { taints: [{ key: "slow", effect: "PreferNoSchedule" }] } });
    await world.addNode("b");
    for (const name of ["one", "two", "three"]) await world.addPod(name);
    await world.settle();

    expect(await countByNode(world)).toEqual({ b: 3 });
  });
});

test("pods that want the same port of their node are kept apart", async () => {
  const world = await withNodes({ a: {}, b: {} });
  const containers = [{ name: "main", image: "app", ports: [{ containerPort: 80, hostPort: 8080 }] }];
  for (const name of ["one", "two", "three"]) {
    await world.run(
      world
        .client(Pod)
        .create({ ...podManifest(name), spec: { containers } } as ReturnType<typeof podManifest>),
    );
    await world.settle();
  }

  expect(await countByNode(world)).toEqual({ a: 1, b: 1 });
  expect(await world.reason("three")).toContain(
    "2 node(s) didn't have free ports for the requested pod ports. no new claims to deallocate, preemption: 0/2 nodes are available: " +
      "2 No preemption victims found for incoming pod.",
  );
});

describe("inter-pod affinity", () => {
  const near = (app: string, topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey, labelSelector: { matchLabels: { app } } },
    ],
  });

  test("pods that must be apart are on different hosts; the one too many says why", async () => {
    const world = await withNodes({ a: {}, b: {} });
    const spec = { affinity: { podAntiAffinity: near("db", HOST) } };
    for (const name of ["db-0", "db-1", "db-2"]) {
      await world.addPod(name, { labels: { app: "db" }, spec });
      await world.settle();
    }

    expect(await countByNode(world)).toEqual({ a: 1, b: 1 });
    expect(await world.reason("db-2")).toContain("2 node(s) didn't match pod anti-affinity rules.");
  });

  test("a pod keeps away from those that want to be apart from it", async () => {
    const world = await withNodes({ a: {}, b: {} });
    await world.addPod("loner", {
      spec: { affinity: { podAntiAffinity: near("web", HOST) }, nodeSelector: { [HOST]: "a" } },
    });
    await world.settle();
    for (const name of ["web-0", "web-1", "web-2"]) await world.addPod(name, { labels: { app: "web" } });
    await world.addPod("pinned", { labels: { app: "web" }, spec: { nodeSelector: { [HOST]: "a" } } });
    await world.settle();

    expect(await countByNode(world)).toEqual({ a: 1, b: 3 });
    expect(await world.reason("pinned")).toContain(
      "1 node(s) didn't satisfy existing pods anti-affinity rules",
    );
  });

  test("the first of a group goes anywhere, the others follow it into its zone", async () => {
    const world = await withNodes({ a: { [ZONE]: "1" }, b: { [ZONE]: "2" }, c: { [ZONE]: "2" }, d: {} });
    const spec = { affinity: { podAffinity: near("cache", ZONE) } };
    await world.addPod("first", {
      labels: { app: "cache" },
      spec: { ...spec, nodeSelector: { [HOST]: "b" } },
    });
    await world.settle();
    for (const name of ["one", "two", "three"]) await world.addPod(name, { labels: { app: "cache" }, spec });
    await world.settle();

    const { first, ...others } = await world.places();
    expect(first).toBe("b");
    for (const place of Object.values(others)) expect(["b", "c"]).toContain(place);
  });

  test("a pod waits for the one it must be with", async () => {
    const world = await withNodes({ a: {}, b: {} });
    await world.addPod("follower", { spec: { affinity: { podAffinity: near("leader", HOST) } } });
    await world.settle();
    expect(await world.reason("follower")).toContain("2 node(s) didn't match pod affinity rules.");

    await world.addPod("leader", { labels: { app: "leader" } });
    await world.settle();

    const { leader, follower } = await world.places();
    expect(follower).toBe(leader);
  });

  test("namespaces are selected by their labels", async () => {
    const world = await withNodes({ a: {}, b: {} });
    await world.run(world.client(Namespace).create({ metadata: { name: "other", labels: { team: "x" } } }));
    const elsewhere = podManifest("db", { labels: { app: "db" }, spec: { nodeSelector: { [HOST]: "a" } } });
    await world.run(
      world.client(Pod).create({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: "other" } }),
    );
    await world.settle();
    const [term] = near("db", HOST).requiredDuringSchedulingIgnoredDuringExecution;
    const required = [{ ...term, topologyKey: HOST, namespaceSelector: { matchLabels: { team: "x" } } }];
    await world.addPod("web", {
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } },
    });
    await world.settle();

    expect((await world.pod("web")).spec.nodeName).toBe("b");
  });

  test("a preference draws pods together while there is room", async () => {
    const world = await withNodes({ a: {}, b: {}, c: {} });
    await world.addPod("leader", { labels: { app: "leader" } });
    await world.settle();
    const podAffinityTerm = { topologyKey: HOST, labelSelector: { matchLabels: { app: "leader" } } };
    const preferred = [{ weight: 100, podAffinityTerm }];
    await world.addPod("follower", {
      spec: { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } },
    });
    await world.settle();

    const { leader, follower } = await world.places();
    expect(follower).toBe(leader);
  });
});

describe("topology spread", () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: ZONE,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: { app: "web" } },
  } as const;

  test("a hard constraint keeps zones within its bound", async () => {
    const world = await withNodes({ a: { [ZONE]: "1" }, b: { [ZONE]: "1" }, c: { [ZONE]: "2" } });
    for (let n = 0; n < 6; n++) {
      await world.addPod(`web-${String(n)}`, {
        labels: { app: "web" },
        spec: { topologySpreadConstraints: [constraint] },
      });
    }
    await world.settle();

    const counts = await countByNode(world);
    expect((counts["a"] ?? 0) + (counts["b"] ?? 0)).toBe(3);
    expect(counts["c"]).toBe(3);
  });

  test("an empty selector counts no pod", async () => {
    const world = await withNodes({ a: { [ZONE]: "1" } });
    await world.addNode("full", { labels: { [ZONE]: "2" }, allocatable: { cpu: "1", pods: "0" } });
    const topologySpreadConstraints = [{ ...constraint, labelSelector: {} }];
    for (const name of ["one", "two"]) await world.addPod(name, { spec: { topologySpreadConstraints } });
    await world.settle();

    expect(await world.places()).toEqual({ one: "a", two: "a" });
  });

  test("a node without the label is no place", async () => {
    const world = await withNodes({ a: {} });
    await world.addPod("web", { labels: { app: "web" }, spec: { topologySpreadConstraints: [constraint] } });
    await world.settle();

    expect(await world.reason("web")).toContain(
      "1 node(s) didn't match pod topology spread constraints (missing required label).",
    );
  });

  test("fewer domains than asked for count as an empty one", async () => {
    const world = await withNodes({ a: { [ZONE]: "1" } });
    const topologySpreadConstraints = [{ ...constraint, minDomains: 2 }];
    for (const name of ["one", "two"]) {
      await world.addPod(name, { labels: { app: "web" }, spec: { topologySpreadConstraints } });
      await world.settle();
    }
    expect(await world.places()).toEqual({ one: "a", two: undefined });

    await world.addNode("b", { labels: { [ZONE]: "2" } });
    await world.settle();

    expect(await world.places()).toEqual({ one: "a", two: "b" });
  });

  test("nodes that the pod does not tolerate are no places when taints are honoured", async () => {
    const world = await withNodes({ a: { [ZONE]: "1" } });
    await world.addNode("b", {
      labels: { [ZONE]: "2" },
      spec: { taints: [{ key: "k", effect: "NoSchedule" }] },
    });
    const add = (name: string, nodeTaintsPolicy: "Honor" | "Ignore"): Promise<unknown> =>
      world.addPod(name, {
        labels: { app: "web" },
        spec: { topologySpreadConstraints: [{ ...constraint, nodeTaintsPolicy }] },
      });
    for (const name of ["one", "two", "three"]) await add(name, "Honor");
    await world.settle();
    await add("four", "Ignore");
    await world.settle();

    expect(await world.places()).toEqual({ one: "a", two: "a", three: "a", four: undefined });
  });

  test("pods of one service are spread without asking for it", async () => {
    const world = await withNodes({ a: {}, b: {}, c: {} });
    await world.run(
      world.client(Service).create({
        metadata: { name: "web", namespace: "default" },
        spec: { clusterIP: "None", selector: { app: "web" }, ports: [{ port: 80 }] },
      }),
    );
    await world.settle();
    for (let n = 0; n < 6; n++) await world.addPod(`web-${String(n)}`, { labels: { app: "web" } });
    await world.settle();

    expect(await countByNode(world)).toEqual({ a: 2, b: 2, c: 2 });
  });
});
