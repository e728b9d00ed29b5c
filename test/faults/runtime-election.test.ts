/** Managers whose requests are refused or never answered: no two lead at once, and one leads once requests work again. */
import { expect, test } from "vitest";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { startRuntimeFixture } from "../scenarios/runtime-fixture.ts";
import type { StartedManager } from "../scenarios/runtime-fixture.ts";

const SEEDS = Array.from({ length: 12 }, (_, n) => n + 1);
const ROUNDS = 15;
const MODES = ["open", "open", "refused", "silent"] as const;

const controller = defineController({
  name: "looking",
  for: ConfigMap,
  resyncMs: 500,
  reconcile: async (object, { client }) => void (await client(ConfigMap).get(object)),
});

function leaders(managers: readonly StartedManager[]): number {
  return managers.filter(({ manager }) => manager.isLeading).length;
}

test.each(SEEDS)("never two leaders at once, and one in the end (seed %i)", async (seed) => {
  const world = await startRuntimeFixture(seed);
  const random = seededRandom(seed, "faults");
  await world.run(world.client(ConfigMap).create({ metadata: { name: "x", namespace: "default" } }));
  const leaderElection = { name: "lease", namespace: "default" };
  const managers = ["a", "b", "c"].map((name) =>
    world.start(name, { controllers: [controller], leaderElection }),
  );
  let most = 0;
  const passTime = async (ms: number): Promise<void> => {
    const until = world.loop.elapsed() + ms;
    await world.loop.until(() => {
      most = Math.max(most, leaders(managers));
      return world.loop.elapsed() >= until;
    });
  };

  for (let round = 0; round < ROUNDS; round++) {
    for (const { link } of managers) link.mode = MODES[random.below(MODES.length)] ?? "open";
    await passTime(random.below(25_000));
  }
  for (const { link } of managers) link.mode = "open";
  await passTime(20_000);

  expect(most).toBe(1);
  expect(leaders(managers)).toBe(1);
});
