/** Children that the compiler checks, and fields of children that belong to other writers. */
import { describe, expect, expectTypeOf, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { child } from "../../src/runtime/controller/child.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";
import type { Link, RuntimeFixture } from "./runtime-fixture.ts";

const PLACE = { namespace: "default", name: "web" };

/** A Deployment of three replicas; its image is that of the ConfigMap. */
const controller = defineController<ConfigMap>({
  name: "web",
  for: ConfigMap,
  owns: [Deployment],
  when: ({ after }) => after?.metadata.name === "web",
  reconcile: async ({ data, metadata: { name } }, { children }) => {
    const labels = { app: name };
    const containers = [{ name: "main", image: data?.["image"] ?? "nginx" }];
    const spec = {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    };
    await children([child(Deployment, { metadata: { name }, spec }, { leave: ["spec.replicas"] })]);
  },
});

async function start(isNetwork: boolean): Promise<{ readonly world: RuntimeFixture; readonly link: Link }> {
  const world = await startRuntimeFixture();
  await world.run(world.client(ConfigMap).create({ metadata: PLACE, data: { image: "nginx" } }));
  const { link } = world.start("m", { controllers: [controller], isNetwork });
  await world.loop.settle();
  return { world, link };
}

function changeImage(world: RuntimeFixture, image: string): Promise<unknown> {
  const patch = { type: "merge", changes: { data: { image } } } as const;
  return world.run(world.client(ConfigMap).patch(PLACE, patch));
}

async function shapeOf(world: RuntimeFixture): Promise<unknown> {
  const { spec } = await world.run(world.client(Deployment).get(PLACE));
  return [spec.replicas, spec.template.spec?.containers[0]?.image];
}

describe.each([
  ["in process", false],
  ["over a network", true],
])("a field that a controller leaves to others (%s)", (_where, isNetwork) => {
  test("has the declared value in a new child", async () => {
    const { world } = await start(isNetwork);

    expect(await shapeOf(world)).toEqual([3, "nginx"]);
  });

  test("keeps the value of another writer, while the other fields follow the declaration", async () => {
    const { world } = await start(isNetwork);
    await world.run(world.client(Deployment).scale(PLACE, 7));
    await world.loop.settle();
    expect(await shapeOf(world)).toEqual([7, "nginx"]);

    await changeImage(world, "caddy");
    await world.loop.settle();

    expect(await shapeOf(world)).toEqual([7, "caddy"]);
  });

  test("keeps its first value when no other writer sets it", async () => {
    const { world } = await start(isNetwork);

    await changeImage(world, "caddy");
    await world.loop.settle();

    expect(await shapeOf(world)).toEqual([3, "caddy"]);
  });

  test("belongs to no apply of the controller, so that another apply meets no conflict", async () => {
    const { world } = await start(isNetwork);

    await world.run(
      world.client(Deployment).patch(PLACE, { type: "merge", changes: { spec: { replicas: 4 } } }),
    );
    const applying = world
      .client(Deployment)
      .apply({ metadata: PLACE, spec: { replicas: 4 } }, { fieldManager: "autoscaler" });

    expect((await world.run(applying)).spec.replicas).toBe(4);
  });

  test.each([1, 2])(
    "keeps its value when the controller stops after request %i of its creation",
    async (count) => {
      const world = await startRuntimeFixture();
      await world.run(world.client(ConfigMap).create({ metadata: PLACE, data: { image: "nginx" } }));
      const first = world.start("first", { controllers: [controller], isNetwork });
      const applied = (): number => first.link.requests.filter(({ method }) => method === "PATCH").length;
      await world.loop.until(() => applied() === count);
      first.link.mode = "silent";
      await world.loop.advance(1000);
      first.stop();
      await world.run(first.ended);
      await changeImage(world, "caddy");

      world.start("second", { controllers: [controller], isNetwork });
      await world.loop.settle();

      expect(await shapeOf(world)).toEqual([3, "caddy"]);
    },
  );
});

test("the compiler refuses a child without a name, with an unknown field or with a value of another type", () => {
  type DeploymentChild = Parameters<typeof child<Deployment>>[1];
  type ConfigMapChild = Parameters<typeof child<ConfigMap>>[1];

  expectTypeOf<{ metadata: object }>().not.toExtend<DeploymentChild>();
  expectTypeOf<NonNullable<DeploymentChild["spec"]>>().toHaveProperty("replicas");
  expectTypeOf<NonNullable<DeploymentChild["spec"]>>().not.toHaveProperty("replica");
  expectTypeOf<{ metadata: { name: string; finalizers: number[] } }>().not.toExtend<ConfigMapChild>();
  expectTypeOf<{ metadata: { name: string; finalizers: string[] } }>().toExtend<ConfigMapChild>();

  expect(child(ConfigMap, { metadata: { name: "a" } }).manifest).toMatchObject({
    apiVersion: "v1",
    kind: "ConfigMap",
  });
});
