import { describe, expect, test } from "vitest";
import { Lease } from "../../src/api/generated/types/coordination-v1.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import type { Controller } from "../../src/runtime/controller/controller.ts";
import { LeadershipLostError } from "../../src/runtime/manager/leader-election.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const LEASE = { namespace: "default", name: "the-lease" };
const ELECTION = { leaderElection: LEASE };

/** Records which instance reconciled when. */
function noting(world: RuntimeFixture, who: string, log: string[]): Controller {
  return defineController({
    name: "noting",
    for: ConfigMap,
    resyncMs: 1000,
    reconcile: async () => void log.push(`${who} ${world.loop.elapsed()}`),
  });
}

async function twoManagers(world: RuntimeFixture): Promise<{
  log: string[];
  a: ReturnType<RuntimeFixture["start"]>;
  b: ReturnType<RuntimeFixture["start"]>;
}> {
  await world.run(world.client(ConfigMap).create({ metadata: { name: "x", namespace: "default" } }));
  const log: string[] = [];
  const a = world.start("a", { ...ELECTION, controllers: [noting(world, "a", log)] });
  await world.loop.until(() => a.manager.isLeading);
  const b = world.start("b", { ...ELECTION, controllers: [noting(world, "b", log)] });
  await world.loop.advance(20_000);
  return { log, a, b };
}

describe("leader election", () => {
  test("one of two managers works, and its lease says so", async () => {
    const world = await startRuntimeFixture();
    const { log, a, b } = await twoManagers(world);

    const lease = await world.run(world.client(Lease).get(LEASE));

    expect([a.manager.isLeading, b.manager.isLeading]).toEqual([true, false]);
    expect(await a.metrics.expose()).toContain('leader_election_master_status{name="the-lease"} 1');
    expect(await b.metrics.expose()).toContain('leader_election_master_status{name="the-lease"} 0');
    expect(new Set(log.map((line) => line.split(" ")[0]))).toEqual(new Set(["a"]));
    expect(lease.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(lease.spec.renewTime).not.toBe(lease.spec.acquireTime);
    expect((await world.events(lease)).map(({ reason, message }) => [reason, message])).toEqual([
      ["LeaderElection", "a became leader"],
    ]);
  });

  test.each(["refused", "silent"] as const)(
    "a leader whose requests are %s stops before its lease ends, and the other takes over within the lease and a retry",
    async (mode) => {
      const world = await startRuntimeFixture();
      const { log, a, b } = await twoManagers(world);

      const cutAt = world.loop.elapsed();
      a.link.mode = mode;
      await world.loop.until(() => !a.manager.isLeading);
      const stoppedAt = world.loop.elapsed();
      await world.loop.until(() => b.manager.isLeading);
      const takenAt = world.loop.elapsed();
      await world.loop.advance(5000);

      expect(stoppedAt - cutAt).toBeLessThanOrEqual(10_000);
      expect(takenAt).toBeGreaterThan(stoppedAt);
      expect(takenAt - cutAt).toBeLessThanOrEqual(15_000 + 2400);
      const lastOfA = Math.max(
        ...log.filter((line) => line.startsWith("a")).map((line) => Number(line.split(" ")[1])),
      );
      const firstOfB = Math.min(
        ...log.filter((line) => line.startsWith("b")).map((line) => Number(line.split(" ")[1])),
      );
      expect(lastOfA).toBeLessThanOrEqual(stoppedAt);
      expect(firstOfB).toBeGreaterThanOrEqual(takenAt);
      const lease = await world.run(world.client(Lease).get(LEASE));
      expect(lease.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    },
  );

  test("a leader that ends gives its lease back: the other need not wait for it to run out", async () => {
    const world = await startRuntimeFixture();
    const { a, b } = await twoManagers(world);
    const endedAt = world.loop.elapsed();

    a.stop();
    await world.run(a.ended);
    await world.loop.until(() => b.manager.isLeading);

    expect(world.loop.elapsed() - endedAt).toBeLessThanOrEqual(2400);
  });

  test("a leader that missed the response to its last renewal gives its lease back as well", async () => {
    const world = await startRuntimeFixture();
    const { a, b } = await twoManagers(world);
    const version = async (): Promise<string> =>
      (await world.run(world.client(Lease).get(LEASE))).metadata.resourceVersion;
    const before = await version();
    a.link.mode = "unheard";
    while ((await version()) === before) await world.loop.advance(100);
    a.link.mode = "open";
    const endedAt = world.loop.elapsed();

    a.stop();
    await world.run(a.ended);
    await world.loop.until(() => b.manager.isLeading);

    expect(world.loop.elapsed() - endedAt).toBeLessThanOrEqual(2400);
  });

  test("what a deposed leader has under way is aborted, and it leads again once it can", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: { name: "x", namespace: "default" } }));
    const outcomes: unknown[] = [];
    const controller = defineController({
      name: "writer",
      for: ConfigMap,
      reconcile: async (object, { client, signal }) => {
        if (outcomes.length === 0) link.mode = "silent";
        try {
          await client(ConfigMap).patch(object, { type: "merge", changes: { data: { k: "v" } } });
        } catch (error) {
          outcomes.push(error, signal.aborted);
          throw error;
        }
      },
    });
    const { link, manager } = world.start("a", { ...ELECTION, controllers: [controller] });
    const data = async (): Promise<unknown> =>
      (await world.run(world.client(ConfigMap).list())).items[0]?.data;

    await world.loop.until(() => outcomes.length > 0);
    const dataThen = await data();
    link.mode = "open";
    await world.loop.until(() => manager.isLeading);
    await world.loop.settle();

    expect(outcomes).toEqual([expect.any(LeadershipLostError), true]);
    expect(dataThen).toBeUndefined();
    expect(await data()).toEqual({ k: "v" });
  });

  test("wrong clocks do not matter: a lease with times of the past is respected while it is renewed", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: { name: "x", namespace: "default" } }));
    const spec = {
      holderIdentity: "stranger",
      leaseDurationSeconds: 15,
      renewTime: "1999-01-01T00:00:00.000000Z",
      leaseTransitions: 7,
    };
    await world.run(world.client(Lease).create({ metadata: LEASE, spec }));
    const log: string[] = [];
    const { manager } = world.start("a", { ...ELECTION, controllers: [noting(world, "a", log)] });

    for (let n = 0; n < 10; n++) {
      await world.loop.advance(10_000);
      const renewTime = `1999-01-01T00:00:${String(10 + n)}.000000Z`;
      await world.run(world.client(Lease).patch(LEASE, { type: "merge", changes: { spec: { renewTime } } }));
      expect(manager.isLeading).toBe(false);
    }
    await world.loop.advance(18_000);

    expect(manager.isLeading).toBe(true);
    expect((await world.run(world.client(Lease).get(LEASE))).spec.leaseTransitions).toBe(8);
  });
});
