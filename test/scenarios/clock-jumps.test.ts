/** Durations are measured by elapsed time, whatever the machine's clock does. */
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { ChaosCluster } from "./chaos/chaos-cluster.ts";

describe("when the clock of the controllers is set", () => {
  test.each([60_000, -60_000])("by %i ms, no node is given up that lives", async (offsetMs) => {
    await using world = await ChaosCluster.open(1, 1);
    await world.advance(60_000);

    for (const part of ["controllers-a", "controllers-b"] as const) world.clocks[part].offsetMs = offsetMs;
    await world.advance(60_000);

    const silent = world.history.changes.filter(
      ({ kind, after }) => kind === "Node" && readyIn(after as Node | undefined) === "Unknown",
    );
    expect(silent.map(({ key }) => key)).toEqual([]);
  });

  test.each([60_000, -60_000])("by %i ms, a node that dies is given up in time", async (offsetMs) => {
    await using world = await ChaosCluster.open(1, 1);
    await world.advance(60_000);

    world.kill("nodes");
    for (const part of ["controllers-a", "controllers-b"] as const) world.clocks[part].offsetMs = offsetMs;
    await world.advance(40_000);
    const early = world.objects(Node).map(readyIn);
    await world.advance(30_000);

    expect(new Set(early)).toEqual(new Set(["True"]));
    expect(new Set(world.objects(Node).map(readyIn))).toEqual(new Set(["Unknown"]));
  });
});

describe("when a clock is set back", () => {
  test("a pod that was refused is tried again as soon as there is room for it", async () => {
    await using world = await ChaosCluster.open(1, 1);
    await world.advance(60_000);
    for (const node of world.objects(Node)) await cordon(world, node, true);
    await world.client(Pod).create(pod("late"));
    await world.advance(500);

    for (const part of ["scheduler-a", "scheduler-b"] as const) world.clocks[part].offsetMs = -60_000;
    for (const node of world.objects(Node)) await cordon(world, node, null);
    await world.advance(5000);

    expect(world.objects(Pod, "default").map(({ spec }) => spec.nodeName)).not.toEqual([undefined]);
  });
});

async function cordon(world: ChaosCluster, node: Node, unschedulable: true | null): Promise<void> {
  await world.client(Node).patch(node, { type: "merge", changes: { spec: { unschedulable } } });
}

function pod(name: string): Manifest<Pod> {
  const spec = { containers: [{ name: "app", image: "app" }] };
  return { metadata: { name, namespace: "default" }, spec } as Manifest<Pod>;
}

function readyIn(node: Node | undefined): string | undefined {
  return node?.status.conditions?.find(({ type }) => type === "Ready")?.status;
}
