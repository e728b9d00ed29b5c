/** Unschedulable pods are not retried until a change can help them. */
import { expect, test } from "vitest";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startSchedulerFixture, type SchedulerFixture } from "./scheduler-fixture.ts";

const SMALL = { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } };

async function attempts({ scheduler }: SchedulerFixture): Promise<number> {
  const text = await scheduler.metrics.expose();
  const found =
    /scheduler_schedule_attempts_total\{profile="default-scheduler",result="unschedulable"\} (\d+)/.exec(
      text,
    );
  return Number(found?.[1] ?? 0);
}

async function relabel(world: SchedulerFixture, labels: Readonly<Record<string, string>>): Promise<void> {
  const changes = { metadata: { labels } };
  await world.run(world.client(Node).patch({ name: "a" }, { type: "merge", changes }));
  await world.loop.advance(15_000);
}

test("a pod that lacks cpu is not tried again for a label, but for cpu", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a", SMALL);
  await world.addPod("big", { requests: { cpu: "3" } });
  await world.settle();
  expect(await attempts(world)).toBe(1);

  await relabel(world, { colour: "green" });
  expect(await attempts(world)).toBe(1);

  const node = await world.run(world.client(Node).get({ name: "a" }));
  const status = { ...node.status, allocatable: { ...SMALL.allocatable, cpu: "4" } };
  await world.run(world.client(Node).updateStatus(node, status));
  await world.settle();
  expect((await world.pod("big")).spec.nodeName).toBe("a");
});

test("metrics tell how long attempts take, and how long and often a pod had to be tried", async () => {
  const world = await startSchedulerFixture();
  await world.addPod("early");
  await world.loop.advance(5000);
  await world.addNode("a", SMALL);
  await world.settle();
  await world.addPod("late");
  await world.settle();

  const text = await world.scheduler.metrics.expose();

  const durations = "scheduler_scheduling_attempt_duration_seconds_count";
  expect(text).toContain(`${durations}{profile="default-scheduler",result="scheduled"} 2`);
  expect(text).toContain(`${durations}{profile="default-scheduler",result="unschedulable"} 1`);
  expect(text).toContain("scheduler_scheduling_algorithm_duration_seconds_count 2");
  expect(text).toContain("scheduler_pod_scheduling_attempts_sum 3");
  expect(text).toContain("scheduler_preemption_attempts_total 0");
  expect(text).toContain('scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1');
  expect(text).toContain('scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="2",le="2.56"} 0');
  expect(text).toContain('scheduler_pod_scheduling_sli_duration_seconds_count{attempts="2"} 1');
});

test("a pod that lacks a label is not tried again when others leave", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a", SMALL);
  await world.addPod("other");
  await world.addPod("picky", { spec: { nodeSelector: { colour: "green" } } });
  await world.settle();
  const before = await attempts(world);

  await world.run(
    world.client(Pod).delete({ namespace: "default", name: "other" }, { gracePeriodSeconds: 0 }),
  );
  await world.loop.advance(15_000);
  expect(await attempts(world)).toBe(before);

  await relabel(world, { colour: "green" });
  expect((await world.pod("picky")).spec.nodeName).toBe("a");
});

test("a heartbeat of a node is no reason to try anything", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a", SMALL);
  await world.addPod("big", { requests: { cpu: "3" } });
  await world.settle();
  const node = await world.run(world.client(Node).get({ name: "a" }));
  const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" }];
  await world.run(world.client(Node).updateStatus(node, { ...node.status, conditions }));
  await world.loop.advance(15_000);

  expect(await attempts(world)).toBe(1);
});

test("a change of the pod itself is worth a try", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
  const { spec } = await world.addPod("web");
  await world.settle();

  const tolerations = [...(spec.tolerations ?? []), { key: "k", operator: "Exists" }];
  const changes = { spec: { tolerations } };
  await world.run(world.client(Pod).patch({ namespace: "default", name: "web" }, { type: "merge", changes }));
  await world.settle();

  expect((await world.pod("web")).spec.nodeName).toBe("a");
});

test("many pods that are alike get the same reason, and places as soon as there are some", async () => {
  const world = await startSchedulerFixture();
  await world.addNode("a", SMALL);
  for (let n = 0; n < 20; n++) await world.addPod(`pod-${String(n)}`, { requests: { cpu: "600m" } });
  await world.settle();
  const { items } = await world.run(world.client(Pod).list());
  const reasons = items
    .filter(({ spec }) => spec.nodeName === undefined)
    .map(({ status }) => status.conditions?.[0]?.message);
  expect(new Set(reasons)).toEqual(
    new Set([
      "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: " +
        "1 No preemption victims found for incoming pod.",
    ]),
  );
  expect(reasons).toHaveLength(19);

  await world.addNode("b", { allocatable: { cpu: "16", memory: "64Gi", pods: "110" } });
  await world.settle();
  expect(Object.values(await world.places()).filter((place) => place === "b")).toHaveLength(19);
});
