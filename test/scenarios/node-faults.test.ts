/** Controllers of nodes while their requests and watches fail. */
import { expect, test } from "vitest";
import { Lease } from "../../src/api/generated/types/coordination-v1.ts";
import { Namespace, Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { microTimeText } from "../../src/api/values/time.ts";
import { nodeLifecycleRoutine } from "../../src/controllers/node-lifecycle/controller.ts";
import { nodeIpamRoutine } from "../../src/controllers/node-lifecycle/node-ipam.ts";
import { taintEvictionRoutine } from "../../src/controllers/node-lifecycle/taint-eviction.ts";
import type { Routine, RoutineParts } from "../../src/runtime/manager/routine.ts";
import { startRuntimeFixture, type RuntimeFixture } from "./runtime-fixture.ts";

const READY = { type: "Ready", status: "True", reason: "KubeletReady" };

test("what was written of a silent node is not written again and again while nothing is heard of it", async () => {
  const world = await startRuntimeFixture();
  const { link } = world.start("m", { routines: [nodeLifecycleRoutine] });
  await addNode(world, "a");
  await world.loop.advance(1000);

  link.watches = "held";
  await world.loop.advance(120_000, { maxSteps: 10_000 });
  link.watches = "flowing";
  await world.loop.advance(10_000);

  const patches = link.requests.filter(({ path }) => path.endsWith("/nodes/a/status"));
  const node = await world.run(world.client(Node).get({ name: "a" }));
  expect(patches.length).toBeLessThan(30);
  expect(node.status.conditions?.find(({ type }) => type === "Ready")?.status).toBe("Unknown");
  expect(node.spec.taints?.map(({ key }) => key)).toContain("node.kubernetes.io/unreachable");
});

test("a node is not given up for what it said while its loop's own watches were broken", async () => {
  const world = await startRuntimeFixture();
  const { link } = world.start("m", { routines: [nodeLifecycleRoutine] });
  await world.run(world.client(Namespace).create({ metadata: { name: "kube-node-lease" } }));
  await addNode(world, "a");
  await renew(world, "a");
  await world.loop.advance(20_000);

  link.watches = "cut";
  for (let i = 0; i < 12; i++) {
    await renew(world, "a");
    await world.loop.advance(10_000);
  }
  expect(link.requests.filter(({ path }) => path.endsWith("/nodes/a/status"))).toEqual([]);
  link.watches = "flowing";
  await world.loop.advance(40_000);
  const known = await world.run(world.client(Node).get({ name: "a" }));
  await world.loop.advance(60_000);
  const lost = await world.run(world.client(Node).get({ name: "a" }));

  expect([known, lost].map(({ status }) => status.conditions?.[0]?.status)).toEqual(["True", "Unknown"]);
});

test.each([0, 1, 2, 3])(
  "addresses that a node may have got are given to no other, %i retries",
  async (retries) => {
    const world = await startRuntimeFixture();
    const { link } = world.start("m", { routines: [nodeIpamRoutine({ podCidrs: ["10.0.0.0/22"] })] });
    await world.loop.advance(1000);

    link.mode = "refused";
    await addNode(world, "b");
    await addNode(world, "c");
    await world.loop.advance(1000);
    link.mode = "unheard";
    await addNode(world, "a");
    await world.loop.until(() => link.requests.some(({ path }) => path.endsWith("/nodes/a")));
    link.watches = "held";
    await world.loop.advance(1000);
    link.mode = "refused";
    await world.loop.advance(5000 * retries);
    link.mode = "open";
    await world.loop.advance(60_000);
    link.watches = "flowing";
    await world.loop.advance(60_000);

    const { items } = await world.run(world.client(Node).list());
    const blocks = items.map(({ spec }) => spec.podCIDR);
    expect(blocks).not.toContain(undefined);
    expect(new Set(blocks).size).toBe(3);
  },
);

test("a node for which there are no addresses is looked at again as often, however much happened to it", async () => {
  const world = await startRuntimeFixture();
  const told: string[] = [];
  world.start("m", { routines: [telling(nodeIpamRoutine({ podCidrs: ["10.0.0.0/24"] }), told)] });
  await addNode(world, "a");
  await addNode(world, "b");
  for (let i = 0; i < 20; i++) {
    await world.loop.advance(500);
    const changes = { metadata: { labels: { count: String(i) } } };
    await world.run(world.client(Node).patch({ name: "b" }, { type: "merge", changes }));
  }

  told.length = 0;
  await world.loop.advance(60_000);

  expect(told.length).toBeGreaterThanOrEqual(11);
  expect(told.length).toBeLessThanOrEqual(13);
});

test("a node gets addresses although those of an earlier one of its name are still being written", async () => {
  const world = await startRuntimeFixture();
  const { link } = world.start("m", { routines: [nodeIpamRoutine({ podCidrs: ["10.0.0.0/22"] })] });
  await world.loop.advance(1000);

  link.mode = "slow";
  await addNode(world, "a");
  await world.loop.until(() => link.requests.some(({ path }) => path.endsWith("/nodes/a")));
  await world.run(world.client(Node).delete({ name: "a" }));
  await addNode(world, "a");
  await world.loop.advance(1000);
  link.mode = "open";
  await world.loop.advance(60_000);

  const node = await world.run(world.client(Node).get({ name: "a" }));
  expect(node.spec.podCIDR).toBeDefined();
});

test("a pod that may stay is not driven away by a deletion that failed before", async () => {
  const world = await startRuntimeFixture();
  const { link } = world.start("m", { routines: [taintEvictionRoutine] });
  const containers = [{ name: "main", image: "app" }];
  const place = { name: "p", namespace: "default" };
  await addNode(world, "a");
  await world.run(world.client(Pod).create({ metadata: place, spec: { nodeName: "a", containers } }));
  await world.loop.advance(1000);

  link.mode = "late";
  await taint(world, [{ key: "bad", effect: "NoExecute" }]);
  await world.loop.advance(500);
  await taint(world, []);
  await world.loop.advance(200);
  link.mode = "open";
  await world.loop.advance(60_000);

  const pod = await world.run(world.client(Pod).find(place));
  expect(pod?.metadata.deletionTimestamp).toBeUndefined();
  expect(pod?.status.conditions ?? []).toEqual([]);
});

/** The same routine, with a record of each event. */
function telling(routine: Routine, told: string[]): Routine {
  const run: Routine["run"] = (parts, signal) => {
    const event: RoutineParts["event"] = (about, what) => {
      told.push(what.reason);
      parts.event(about, what);
    };
    return routine.run({ ...parts, event }, signal);
  };
  return { ...routine, run };
}

async function taint(world: RuntimeFixture, taints: readonly object[]): Promise<void> {
  await world.run(world.client(Node).patch({ name: "a" }, { type: "merge", changes: { spec: { taints } } }));
}

async function renew(world: RuntimeFixture, name: string): Promise<void> {
  const metadata = { name, namespace: "kube-node-lease" };
  const renewTime = microTimeText(world.loop.now());
  await world.run(world.client(Lease).apply({ metadata, spec: { renewTime } }));
}

async function addNode(world: RuntimeFixture, name: string): Promise<void> {
  await world.run(world.client(Node).create({ metadata: { name }, status: { conditions: [READY] } }));
}
