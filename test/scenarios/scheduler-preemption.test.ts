/** Pods of high priority preempt others with the least disruption. */
import { describe, expect, test } from "vitest";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../src/api/generated/types/policy-v1.ts";
import {
  addPriority,
  type PodChange,
  startSchedulerFixture,
  type SchedulerFixture,
} from "./scheduler-fixture.ts";

const CLASSES = { low: 10, middle: 50, high: 100 } as const;

const ROOM_FOR_TWO = { allocatable: { cpu: "2", memory: "8Gi", pods: "10" } };

async function start(): Promise<SchedulerFixture> {
  const world = await startSchedulerFixture();
  for (const [name, value] of Object.entries(CLASSES)) await addPriority(world, name, value);
  return world;
}

/** Requests one core, and ends at once when deleted. */
function important(priority: keyof typeof CLASSES, change: PodChange = {}): PodChange {
  return {
    requests: { cpu: "1" },
    ...change,
    spec: {
      priorityClassName: priority,
      priority: CLASSES[priority],
      terminationGracePeriodSeconds: 0,
      ...change.spec,
    },
  };
}

async function names(world: SchedulerFixture): Promise<readonly string[]> {
  return Object.keys(await world.places()).toSorted();
}

describe("preemption", () => {
  test("deletes the least important pod, and gives its room to the one that needs it", async () => {
    const world = await start();
    await world.addNode("a", ROOM_FOR_TWO);
    await world.addPod("low", important("low"));
    await world.addPod("middle", important("middle"));
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();

    expect(await world.places()).toEqual({ high: "a", middle: "a" });
  });

  test("marks those who must go, and waits for them with the node written down", async () => {
    const world = await start();
    await world.addNode("a", { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } });
    const victim = await world.addPod(
      "low",
      important("low", { spec: { terminationGracePeriodSeconds: 30 } }),
    );
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();

    const high = await world.pod("high");
    expect(high.spec.nodeName).toBeUndefined();
    expect(high.status.nominatedNodeName).toBe("a");
    const low = await world.pod("low");
    expect(low.metadata.deletionTimestamp).toBeDefined();
    expect(low.status.conditions).toContainEqual(
      expect.objectContaining({
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: "default-scheduler: preempting to accommodate a higher priority pod",
      }),
    );
    const events = await world.events(victim);
    expect(events.map(({ reason, message }) => `${reason}: ${message}`)).toContain(
      `Preempted: Preempted by pod ${high.metadata.uid} on node a`,
    );

    await world.run(
      world.client(Pod).delete({ namespace: "default", name: "low" }, { gracePeriodSeconds: 0 }),
    );
    await world.settle();
    expect((await world.pod("high")).spec.nodeName).toBe("a");
  });

  test("keeps the room for the pod that waits for it", async () => {
    const world = await start();
    await world.addNode("a", { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } });
    await world.addPod("low", important("low", { spec: { terminationGracePeriodSeconds: 30 } }));
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();
    await world.addPod("middle", important("middle"));
    await world.run(
      world.client(Pod).delete({ namespace: "default", name: "low" }, { gracePeriodSeconds: 0 }),
    );
    await world.settle();

    expect(await world.places()).toEqual({ high: "a", middle: undefined });
  });

  test.each([
    [
      "is deleted",
      (world: SchedulerFixture) => world.client(Pod).delete({ namespace: "default", name: "high" }),
    ],
    [
      "is told to wait no longer",
      async (world: SchedulerFixture) => {
        const patch = { type: "merge", changes: { status: { nominatedNodeName: null } } } as const;
        await world
          .client(Pod)
          .patch({ namespace: "default", name: "high" }, patch, { subresource: "status" });
      },
    ],
  ])("gives the room to others when the pod that waits for it %s", async (_, act) => {
    const world = await start();
    await world.addNode("a", ROOM_FOR_TWO);
    await world.addPod("low", important("low", { spec: { terminationGracePeriodSeconds: 30 } }));
    await world.settle();
    await world.addPod("high", important("high", { requests: { cpu: "2" } }));
    await world.settle();
    await world.addPod("middle", important("middle"));
    await world.settle();
    expect((await world.pod("middle")).spec.nodeName).toBeUndefined();
    await world.run(Promise.resolve(act(world)));
    await world.settle();

    expect((await world.pod("middle")).spec.nodeName).toBe("a");
  });

  test("no longer waits for room that a more important pod has taken", async () => {
    const world = await start();
    await world.addNode("a", ROOM_FOR_TWO);
    await world.addPod("low", important("low", { spec: { terminationGracePeriodSeconds: 30 } }));
    await world.settle();
    await world.addPod("middle", important("middle", { requests: { cpu: "2" } }));
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();
    expect((await world.pod("high")).spec.nodeName).toBe("a");
    expect((await world.pod("middle")).status.nominatedNodeName).toBe("a");
    const low = { namespace: "default", name: "low" };
    await world.run(world.client(Pod).delete(low, { gracePeriodSeconds: 0 }));
    await world.settle();

    expect((await world.pod("middle")).status.nominatedNodeName).toBeUndefined();
  });

  test("looks for room anew when the node it waits for is gone", async () => {
    const world = await start();
    const one = { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } };
    await world.addNode("a", one);
    await world.addPod("low", important("low", { spec: { terminationGracePeriodSeconds: 30 } }));
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();
    await world.addNode("b", { ...one, spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    await world.run(world.client(Node).delete({ name: "a" }));
    await world.settle();

    expect((await world.pod("high")).status.nominatedNodeName).toBeUndefined();
  });

  test("evicts no pod when the policy is Never", async () => {
    const world = await start();
    await world.addNode("a", { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } });
    await world.addPod("low", important("low"));
    await world.settle();
    await addPriority(world, "polite", CLASSES.high, "Never");
    await world.addPod("high", important("high", { spec: { priorityClassName: "polite" } }));
    await world.settle();

    expect(await names(world)).toEqual(["high", "low"]);
    expect(await world.reason("high")).toBe(
      "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
    );
  });

  test("goes where no disruption budget is broken", async () => {
    const world = await start();
    await world.addNode("a", { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } });
    await world.addNode("b", { allocatable: { cpu: "1", memory: "8Gi", pods: "10" } });
    const on = (node: string): PodChange["spec"] => ({ nodeSelector: { "kubernetes.io/hostname": node } });
    await world.addPod("guarded", important("low", { labels: { app: "guarded" }, spec: on("a") ?? {} }));
    await world.addPod("free", important("middle", { spec: on("b") ?? {} }));
    const budget = await world.run(
      world.client(PodDisruptionBudget).create({
        metadata: { name: "guard", namespace: "default" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
      }),
    );
    const status = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    await world.run(world.client(PodDisruptionBudget).updateStatus(budget, status));
    await world.settle();
    await world.addPod("high", important("high"));
    await world.settle();

    expect(await world.places()).toEqual({ guarded: "a", high: "b" });
  });

  test("takes no more pods than it must", async () => {
    const world = await start();
    await world.addNode("a", { allocatable: { cpu: "4", memory: "8Gi", pods: "10" } });
    for (const name of ["one", "two", "three", "four"]) await world.addPod(name, important("low"));
    await world.settle();
    await world.addPod("high", important("high", { requests: { cpu: "2" } }));
    await world.settle();

    const places = await world.places();
    expect(places["high"]).toBe("a");
    expect(Object.keys(places)).toHaveLength(3);
  });

  test("lets pods go that a more important one must be apart from", async () => {
    const world = await start();
    await world.addNode("a");
    await world.addPod("low", important("low", { labels: { app: "x" } }));
    await world.settle();
    const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "x" } } };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    await world.addPod("high", important("high", { spec: { affinity: { podAntiAffinity: required } } }));
    await world.settle();

    expect(await world.places()).toEqual({ high: "a" });
  });
});

test("of several pods that wait, the most important goes first", async () => {
  const world = await start();
  await world.addPod("low", important("low"));
  await world.addPod("high", important("high"));
  await world.addPod("middle", important("middle"));
  await world.settle();
  await world.addNode("a", ROOM_FOR_TWO);
  await world.settle();

  expect(await world.places()).toEqual({ high: "a", low: undefined, middle: "a" });
});
