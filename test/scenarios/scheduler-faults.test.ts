/** Whatever fails: no node is overcommitted, and no pod that fits stays pending. */
import { describe, expect, test } from "vitest";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { schedulerRoutine } from "../../src/scheduler/scheduler.ts";
import { startSchedulerFixture, type SchedulerFixture } from "./scheduler-fixture.ts";

const CORES = 4;
const SMALL = { allocatable: { cpu: String(CORES), memory: "8Gi", pods: "10" } };

interface Usage {
  readonly used: ReadonlyMap<string, number>;
  readonly waiting: readonly number[];
}

async function usage(world: SchedulerFixture): Promise<Usage> {
  const { items } = await world.run(world.client(Pod).list());
  const nodes = await world.run(world.client(Node).list());
  const used = new Map(nodes.items.map(({ metadata }) => [metadata.name, 0]));
  const waiting: number[] = [];
  for (const { spec } of items) {
    const cores = Number(spec.containers[0]?.resources.requests?.["cpu"] ?? 0);
    if (spec.nodeName === undefined) waiting.push(cores);
    else if (used.has(spec.nodeName)) used.set(spec.nodeName, (used.get(spec.nodeName) ?? 0) + cores);
  }
  return { used, waiting };
}

describe.each([1, 2, 3, 4])("with seed %d", (seed) => {
  test("restarts, cuts and changes lose no pod and overfill no node", async () => {
    const world = await startSchedulerFixture({}, seed);
    const random = world.loop.random("test");
    let { scheduler } = world;
    let pods = 0;
    for (let round = 0; round < 25; round++) {
      const action = random.below(7);
      if (action === 0) await world.addNode(`node-${String(round)}`, SMALL);
      else if (action === 1) {
        scheduler.stop();
        await world.run(scheduler.ended);
        scheduler = world.start(`scheduler-${String(round)}`, { routines: [schedulerRoutine()] });
      } else if (action === 2) scheduler.link.mode = scheduler.link.mode === "open" ? "refused" : "open";
      else if (action === 3) await deleteOne(world, random.below(100));
      else {
        for (let n = 0; n < 3; n++) {
          await world.addPod(`pod-${String(pods++)}`, { requests: { cpu: String(1 + random.below(3)) } });
        }
      }
      await world.loop.advance(random.below(3000));
    }
    scheduler.link.mode = "open";
    await world.loop.advance(60_000);

    const { used, waiting } = await usage(world);
    for (const cores of used.values()) expect(cores).toBeLessThanOrEqual(CORES);
    const mostFree = Math.max(0, ...[...used.values()].map((cores) => CORES - cores));
    expect(Math.min(Infinity, ...waiting)).toBeGreaterThan(mostFree);
  });
});

async function deleteOne(world: SchedulerFixture, n: number): Promise<void> {
  const { items } = await world.run(world.client(Pod).list());
  const pod = items[n % Math.max(1, items.length)];
  if (pod !== undefined) await world.run(world.client(Pod).delete(pod, { gracePeriodSeconds: 0 }));
}

test("the same seed gives the same placement", async () => {
  const run = async (): Promise<unknown> => {
    const world = await startSchedulerFixture({}, 42);
    for (const name of ["a", "b", "c", "d"]) await world.addNode(name);
    for (let n = 0; n < 12; n++) await world.addPod(`pod-${String(n)}`);
    await world.settle();
    return await world.places();
  };

  expect(await run()).toEqual(await run());
});

test("a pod with absurd numbers waits, and no other pod does", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a");
  const requests = { cpu: "9e15", memory: "1Ei", "example.com/unicorns": "1000000000" };
  const containers = [{ name: "main", image: "app", resources: { requests, limits: requests } }];
  await world.addPod("absurd", { spec: { containers } });
  await world.addPod("modest", { requests: { cpu: "1" } });
  await world.settle();

  expect(await world.places()).toEqual({ absurd: undefined, modest: "a" });
  expect(await world.reason("absurd")).toContain(
    "1 Insufficient cpu, 1 Insufficient example.com/unicorns, 1 Insufficient memory.",
  );
});

test("a pod whose binding was not heard of keeps its place", async () => {
  const world = await startSchedulerFixture();
  const { link } = world.scheduler;
  await world.addNode("a");
  await world.settle();
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const spec = { containers: [{ name: "main", image: "app", ports }] };

  link.mode = "unheard";
  await world.addPod("first", { spec });
  await world.loop.until(() => link.requests.some(({ path }) => path.endsWith("/binding")));
  link.watches = "held";
  link.mode = "open";
  await world.loop.advance(500);
  link.watches = "flowing";
  await world.addPod("second", { spec });
  await world.loop.advance(60_000);

  expect(await world.places()).toEqual({ first: "a", second: undefined });
  expect(await world.reason("first")).toBeUndefined();
});
