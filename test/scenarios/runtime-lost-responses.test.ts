/** Writes whose response was lost count as written until the caches show their outcome. */
import { describe, expect, test } from "vitest";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { Client } from "../../src/client/client.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";

const NAMESPACE = "default";
const CHILD = { namespace: NAMESPACE, name: "child" };

/** Writes to Secrets by a pass that sees the cached ones. */
const WRITES: Readonly<Record<string, (client: Client, secret: Secret | undefined) => Promise<unknown>>> = {
  "create with a generated name": (client) =>
    client(Secret).create({ metadata: { namespace: NAMESPACE, generateName: "made-" } }),
  create: (client) => client(Secret).create({ metadata: { namespace: NAMESPACE, name: "made" } }),
  apply: (client) => client(Secret).apply({ metadata: CHILD, data: { k: "dg==" } }),
  update: async (client, secret) => {
    if (secret !== undefined) await client(Secret).update({ ...secret, data: { k: "dg==" } });
  },
  patch: (client) => client(Secret).patch(CHILD, { type: "merge", changes: { data: { k: "dg==" } } }),
  delete: (client) => client(Secret).delete(CHILD),
  "delete of a collection": (client) => client(Secret).deleteCollection({ namespace: NAMESPACE }),
};

describe("a write whose response is lost", () => {
  test.each(Object.entries(WRITES))("holds its key until a late watch shows it: %s", async (_kind, write) => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: { namespace: NAMESPACE, name: "a" } }));
    await world.run(world.client(Secret).create({ metadata: CHILD }));
    const seen: string[] = [];
    const controller = defineController({
      name: "writer",
      for: ConfigMap,
      reads: [Secret],
      reconcile: async (_object, { cache, client }) => {
        const secrets = cache(Secret).list();
        seen.push(secrets.map(({ metadata, data }) => `${metadata.name}=${data?.["k"] ?? ""}`).join());
        if (seen.length > 1) return;
        link.watches = "held";
        link.mode = "unheard";
        try {
          await write(client, secrets[0]);
        } finally {
          link.mode = "open";
        }
      },
    });
    const { link } = world.start("m", { controllers: [controller] });

    await world.loop.advance(20_000);
    expect(seen).toHaveLength(1);
    link.watches = "flowing";
    await world.loop.settle();

    expect(seen).toHaveLength(2);
    expect(seen[1]).not.toBe(seen[0]);
  });

  test("is found out as soon as the server answers again", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: { namespace: NAMESPACE, name: "a" } }));
    let passes = 0;
    const controller = defineController({
      name: "writer",
      for: ConfigMap,
      owns: [Secret],
      reconcile: async (_object, { cache, client }) => {
        passes++;
        if (passes === 1) link.mode = "unheard";
        if (cache(Secret).size > 0) return;
        await client(Secret).create({ metadata: { namespace: NAMESPACE, generateName: "made-" } });
      },
    });
    const { link } = world.start("m", { controllers: [controller] });

    await world.loop.advance(10_000);
    expect(passes).toBe(1);
    link.mode = "open";
    await world.loop.advance(10_000);

    expect(passes).toBe(2);
    expect((await world.run(world.client(Secret).list())).items).toHaveLength(1);
  });

  test("that the server refused holds no key", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: { namespace: NAMESPACE, name: "a" } }));
    let passes = 0;
    const controller = defineController({
      name: "writer",
      for: ConfigMap,
      owns: [Secret],
      reconcile: async (_object, { client }) => {
        if (++passes > 3) return;
        await client(Secret).create({ metadata: { namespace: NAMESPACE, name: "Not Valid" } });
      },
    });
    const { link } = world.start("m", { controllers: [controller] });

    await world.loop.settle();

    expect(passes).toBe(4);
    expect(link.requests.filter(({ method, path }) => method === "GET" && path.includes("secrets"))).toEqual(
      [],
    );
  });
});
