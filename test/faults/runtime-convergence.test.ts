/** A controller whose requests fail and whose watches break at any time reaches the right state once they work again. */
import { expect, test } from "vitest";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { Random } from "../../src/base/loop/loop.ts";
import { seededRandom } from "../../src/base/loop/random.ts";
import { childName } from "../../src/runtime/controller/child-names.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { startRuntimeFixture } from "../scenarios/runtime-fixture.ts";
import type { RuntimeFixture } from "../scenarios/runtime-fixture.ts";

const ROUNDS = 25;
const PARENTS = ["a", "b", "c"];
const SEEDS = Array.from({ length: 20 }, (_, n) => n + 1);

/** Keeps as many Secrets as the ConfigMap says, one with a generated name, and records it in the ConfigMap. */
const controller = defineController({
  name: "parent",
  for: ConfigMap,
  owns: [Secret],
  finalizer: "example.com/parent",
  reconcile: async (parent, { children, client, cache }) => {
    const count = Number(parent.data?.["count"] ?? "0");
    const declared = Array.from({ length: count }, (_, n) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: childName(parent, `child-${n}`) },
    }));
    const chance = cache(Secret)
      .ownedBy(parent)
      .filter(({ metadata }) => metadata.generateName !== undefined);
    if (chance.length === 0) {
      const owner = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: parent.metadata.name,
        uid: parent.metadata.uid,
      };
      const metadata = {
        generateName: "chance-",
        namespace: "default",
        ownerReferences: [{ ...owner, controller: true }],
      };
      await client(Secret).create({ metadata });
    }
    const kept = chance.map(({ metadata: { name } }) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
    }));
    await children([...declared, ...kept]);
    if (parent.data?.["made"] === String(count)) return;
    await client(ConfigMap).patch(parent, { type: "merge", changes: { data: { made: String(count) } } });
  },
  finalize: async (parent, { cache, client }) => {
    for (const secret of cache(Secret).ownedBy(parent)) await client(Secret).delete(secret);
  },
});

function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[random.below(choices.length)] ?? choices[0];
}

async function disturb(world: RuntimeFixture, random: Random): Promise<void> {
  const maps = world.client(ConfigMap);
  const place = { namespace: "default", name: pick(random, ["a", "b", "c"]) };
  const count = String(random.below(5));
  const present = await world.run(maps.find(place));
  if (present === undefined) await world.run(maps.create({ metadata: place, data: { count } }));
  else if (random.below(6) === 0) await world.run(maps.delete(place));
  else await world.run(maps.patch(place, { type: "merge", changes: { data: { count } } }));
}

test.each(SEEDS)(
  "a controller converges after failures of its requests and watches (seed %i)",
  async (seed) => {
    const world = await startRuntimeFixture(seed);
    const random = seededRandom(seed, "faults");
    const { link, lines } = world.start("m", { controllers: [controller] });

    for (let round = 0; round < ROUNDS; round++) {
      link.mode = pick(random, ["open", "open", "refused"]);
      link.watches = pick(random, ["flowing", "flowing", "held"]);
      await disturb(world, random);
      await world.loop.advance(random.below(3000));
    }
    link.mode = "open";
    link.watches = "flowing";
    await world.loop.advance(900_000);

    const parents = (await world.run(world.client(ConfigMap).list())).items;
    const secrets = (await world.run(world.client(Secret).list())).items;
    expect(parents.map(({ metadata }) => metadata.name).every((name) => PARENTS.includes(name))).toBe(true);
    for (const parent of parents) {
      const owned = secrets.filter(
        ({ metadata }) => metadata.ownerReferences?.[0]?.uid === parent.metadata.uid,
      );
      expect(parent.metadata.deletionTimestamp).toBeUndefined();
      expect(parent.data?.["made"]).toBe(parent.data?.["count"]);
      expect(owned).toHaveLength(Number(parent.data?.["count"]) + 1);
    }
    const uids = new Set(parents.map(({ metadata }) => metadata.uid));
    expect(secrets.filter(({ metadata }) => !uids.has(metadata.ownerReferences?.[0]?.uid ?? ""))).toEqual([]);
    expect(lines.filter(({ message }) => message.includes("does not settle"))).toEqual([]);
  },
);
