/** Loops that look after nodes, while what they ask and hear does not come through. */
import { expect, test } from "vitest";
import { Node } from "../../src/api/generated/types/core-v1.ts";
import { nodeLifecycleRoutine } from "../../src/controllers/node-lifecycle/controller.ts";
import { startWorld, type World } from "./runtime-world.ts";

const READY = { type: "Ready", status: "True", reason: "KubeletReady" };

test("what was written of a silent node is not written again and again while nothing is heard of it", async () => {
  const world = await startWorld();
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

async function addNode(world: World, name: string): Promise<void> {
  await world.run(world.client(Node).create({ metadata: { name }, status: { conditions: [READY] } }));
}
