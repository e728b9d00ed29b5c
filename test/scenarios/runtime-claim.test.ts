import { describe, expect, test } from "vitest";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import type { ObjectMeta } from "../../src/api/generated/types/meta-v1.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import type { Controller } from "../../src/runtime/controller/controller.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const LABELS = { app: "web" };
const SPEC = { containers: [{ name: "c", image: "i" }] };

function claiming(claims: string[][], before?: () => Promise<void>): Controller {
  return defineController({
    name: "claiming",
    for: ReplicaSet,
    owns: [Pod],
    reconcile: async (rs, { claim }) => {
      await before?.();
      const pods = await claim(Pod, rs, rs.spec.selector);
      claims.push(pods.map(({ metadata }) => metadata.name));
    },
  });
}

async function makeReplicaSet(world: RuntimeFixture, name = "web"): Promise<ReplicaSet> {
  const spec = {
    replicas: 1,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: SPEC },
  };
  return await world.run(world.client(ReplicaSet).create({ metadata: { name, namespace: "default" }, spec }));
}

async function makePod(world: RuntimeFixture, name: string, metadata: ObjectMeta = {}): Promise<Pod> {
  const whole = { name, namespace: "default", labels: LABELS, ...metadata };
  return await world.run(world.client(Pod).create({ metadata: whole, spec: SPEC }));
}

async function ownersOf(world: RuntimeFixture, name: string): Promise<readonly string[]> {
  const pod = await world.run(world.client(Pod).get({ namespace: "default", name }));
  const { ownerReferences = [] } = pod.metadata;
  return ownerReferences.map((owner) => `${owner.name}${owner.controller === true ? "*" : ""}`).toSorted();
}

const KEEPER = { apiVersion: "v1", kind: "Node", name: "keeper", uid: "keeper" };

describe("claim", () => {
  test("adopts orphans that match, beside owners they have already, and leaves others alone", async () => {
    const world = await startRuntimeFixture();
    await makeReplicaSet(world);
    await makePod(world, "orphan", { ownerReferences: [KEEPER] });
    await makePod(world, "stranger", { labels: { app: "other" } });
    await makePod(world, "taken", {
      ownerReferences: [{ ...KEEPER, name: "other", uid: "o", controller: true }],
    });
    const claims: string[][] = [];

    world.start("m", { controllers: [claiming(claims)] });
    await world.loop.settle();

    expect(claims.at(-1)).toEqual(["orphan"]);
    expect(await ownersOf(world, "orphan")).toEqual(["keeper", "web*"]);
    expect(await ownersOf(world, "stranger")).toEqual([]);
    expect(await ownersOf(world, "taken")).toEqual(["other*"]);
  });

  test("finds the one orphan that matches among very many that do not", async () => {
    const world = await startRuntimeFixture();
    await makeReplicaSet(world);
    for (let at = 0; at < 100; at++) await makePod(world, `stranger-${at}`, { labels: { app: "other" } });
    await makePod(world, "orphan");
    const claims: string[][] = [];

    world.start("m", { controllers: [claiming(claims)] });
    await world.loop.settle();

    expect(claims.at(-1)).toEqual(["orphan"]);
    expect(await ownersOf(world, "orphan")).toEqual(["web*"]);
  });

  test("releases what no longer matches, and only its own reference", async () => {
    const world = await startRuntimeFixture();
    await makeReplicaSet(world);
    await makePod(world, "pod", { ownerReferences: [KEEPER] });
    const claims: string[][] = [];
    world.start("m", { controllers: [claiming(claims)] });
    await world.loop.settle();

    const labels = { app: "debug" };
    const changes = { metadata: { labels } };
    await world.run(
      world.client(Pod).patch({ namespace: "default", name: "pod" }, { type: "merge", changes }),
    );
    await world.loop.settle();

    expect(claims.at(-1)).toEqual([]);
    expect(await ownersOf(world, "pod")).toEqual(["keeper"]);
  });

  test("does not adopt what is being deleted", async () => {
    const world = await startRuntimeFixture();
    await makeReplicaSet(world);
    const pod = await makePod(world, "going", { finalizers: ["example.com/wait"] });
    await world.run(world.client(Pod).delete(pod));
    const claims: string[][] = [];

    world.start("m", { controllers: [claiming(claims)] });
    await world.loop.settle();

    expect(claims.at(-1)).toEqual([]);
    expect(await ownersOf(world, "going")).toEqual([]);
  });

  test("adopts nothing for an owner that the server no longer knows as it was", async () => {
    const world = await startRuntimeFixture();
    const rs = await makeReplicaSet(world);
    await makePod(world, "orphan");
    const claims: string[][] = [];
    let isFirst = true;
    const controller = claiming(claims, async () => {
      if (!isFirst) return;
      isFirst = false;
      // Deleted and created anew between the read of the cache and the adoption.
      await world.client(ReplicaSet).delete(rs, { propagationPolicy: "Orphan" });
    });

    const { lines, passes } = world.start("m", { controllers: [controller] });
    await world.loop.until(() => passes.length > 0);

    expect(passes[0]?.result).toBe("failed");
    expect(String(lines.find(({ level }) => level === "warn")?.fields["error"])).toMatch(
      /nothing can be adopted/,
    );
    expect(await ownersOf(world, "orphan")).toEqual([]);
  });
});
