import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../src/api/api-object.ts";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import { untilAborted } from "../../src/base/loop/until-aborted.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import { createManager } from "../../src/runtime/manager/manager.ts";
import type { Routine } from "../../src/runtime/manager/routine.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";

const PLACE = { namespace: "default", name: "a" };
const UNSERVED: ResourceType = {
  apiVersion: "example.com/v1",
  kind: "None",
  plural: "nones",
  namespaced: true,
};

describe("a manager", () => {
  test("starts each loop when its own kinds are there, and does not wait for those of others", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const log: string[] = [];
    const controller = defineController({
      name: "maps",
      for: ConfigMap,
      reconcile: async ({ metadata }) => void log.push(metadata.name),
    });
    const waiting = defineController({
      name: "none",
      for: UNSERVED,
      reconcile: async () => void log.push("none"),
    });

    world.start("m", { controllers: [waiting, controller] });
    await world.loop.advance(60_000);

    expect(log).toEqual(["a"]);
  });

  test("gives a routine its caches, tells it of changes, and lets it write in its own name", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE, data: { k: "-" } }));
    const log: string[] = [];
    const routine: Routine = {
      name: "routine",
      reads: [ConfigMap],
      run: async ({ cache, subscribe, client, event }, signal) => {
        log.push(`begins with ${cache(ConfigMap).size}`);
        const leave = subscribe(
          ConfigMap,
          ({ after }) => void log.push(`told of ${after?.data?.["k"] ?? "-"}`),
        );
        const [object] = cache(ConfigMap).list();
        if (object !== undefined) event(object, { type: "Normal", reason: "Hello", message: "there" });
        await client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { k: "v" } } });
        await untilAborted(signal);
        leave();
        log.push("ends");
      },
    };

    const { stop, ended } = world.start("m", { routines: [routine] });
    await world.loop.settle();
    stop();
    await world.run(ended);

    expect(log).toEqual(["begins with 1", "told of v", "ends"]);
    const object = await world.run(world.client(ConfigMap).get(PLACE));
    expect(object.metadata.managedFields?.map(({ manager }) => manager)).toContain("routine");
    expect((await world.events(object)).map(({ reason }) => reason)).toEqual(["Hello"]);
  });

  test("ends with the error of a routine that broke, after everything else has ended", async () => {
    const world = await startRuntimeFixture();
    const log: string[] = [];
    const broken: Routine = { name: "broken", reads: [], run: () => Promise.reject(new Error("it broke")) };
    const other: Routine = {
      name: "other",
      reads: [],
      run: async (_parts, signal) => {
        await untilAborted(signal);
        log.push("ended");
      },
    };

    const { ended } = world.start("m", { routines: [other, broken] });

    await expect(world.run(ended)).rejects.toThrow("it broke");
    expect(log).toEqual(["ended"]);
  });

  test("leaves nothing behind: no timer and no watch", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const controller = defineController({
      name: "busy",
      for: ConfigMap,
      resyncMs: 1000,
      reconcile: async () => ({ recheckAfterMs: 100 }),
    });

    const { stop, ended, passes } = world.start("m", {
      controllers: [controller],
      leaderElection: { name: "l", namespace: "default" },
    });
    await world.loop.advance(10_000);
    stop();
    await world.run(ended);
    await world.loop.settle();
    const passesThen = passes.length;
    const stepsThen = world.loop.trace.steps;
    await world.loop.advance(1800_000);

    expect(passes.length).toBe(passesThen);
    const { steps, recent } = world.loop.trace;
    const later = recent.slice(recent.length - (steps - stepsThen));
    expect(later.filter((step) => !/root\/(store|server)/.test(step))).toEqual([]);
  });

  test("looks at one namespace only when told to, and does not wait for what it wrote elsewhere", async () => {
    const world = await startRuntimeFixture();
    const body = { metadata: { name: "other" } };
    await world.run(world.client.request({ method: "POST", path: "/api/v1/namespaces", body }));
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    await world.run(world.client(ConfigMap).create({ metadata: { namespace: "other", name: "b" } }));
    const seen: string[] = [];
    const controller = defineController({
      name: "restricted",
      for: ConfigMap,
      reconcile: async ({ metadata }, { client }) => {
        seen.push(`${metadata.namespace ?? ""}/${metadata.name}`);
        const place = { namespace: "other", name: "b" };
        await client(ConfigMap).patch(place, {
          type: "merge",
          changes: { data: { k: String(seen.length) } },
        });
        return seen.length < 3 ? { recheckAfterMs: 1000 } : undefined;
      },
    });

    world.start("m", { controllers: [controller], namespace: "default" });
    await world.loop.settle();

    expect(seen).toEqual(["default/a", "default/a", "default/a"]);
    expect(world.loop.elapsed()).toBe(2000);
  });

  test("makes its own client, caches and metrics when it is given a way to the server only", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const ending = new AbortController();
    const seen: string[] = [];
    const controller = defineController({
      name: "minimal",
      for: ConfigMap,
      reconcile: async ({ metadata }) => {
        seen.push(metadata.name);
        ending.abort();
      },
    });
    const { transport } = world.connect("minimal");
    const loop = world.loop.child("minimal-manager");
    const manager = createManager({ transport, loop, controllers: [controller] });

    await world.run(manager.run(ending.signal));

    expect(seen).toEqual(["a"]);
    expect(manager.health()).toBeUndefined();
    expect(await manager.metrics.expose()).toContain("setpoint_controller_reconciles_total");
  });

  test("refuses two loops of one name", async () => {
    const world = await startRuntimeFixture();
    const controller = defineController({ name: "same", for: ConfigMap, reconcile: async () => undefined });

    expect(() => world.start("m", { controllers: [controller, controller] })).toThrow(
      "two loops are named same",
    );
  });

  test("refuses to read a kind that the definition does not name", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create({ metadata: PLACE }));
    const controller = defineController({
      name: "reader",
      for: ConfigMap,
      reconcile: async (_object, { cache }) => void cache(Secret).list(),
    });

    const { lines, passes } = world.start("m", { controllers: [controller] });
    await world.loop.until(() => passes.length > 0);

    const failure = lines.find(({ level }) => level === "warn")?.fields["error"];
    expect(String(failure)).toContain("the controller reader reads v1/Secret");
  });

  test("several in one process know nothing of each other, and the same seed gives the same trace", async () => {
    const digests: string[] = [];
    for (let round = 0; round < 2; round++) {
      const world = await startRuntimeFixture(42);
      for (const name of ["a", "b", "c"])
        await world.run(world.client(ConfigMap).create({ metadata: { namespace: "default", name } }));
      const seen: Record<string, string[]> = {};
      for (const who of ["one", "two", "three"]) {
        const controller = defineController({
          name: "looker",
          for: ConfigMap,
          reconcile: async ({ metadata }) => void (seen[who] ??= []).push(metadata.name),
        });
        world.start(who, { controllers: [controller] });
      }
      await world.loop.settle();

      for (const names of Object.values(seen)) expect(names.toSorted()).toEqual(["a", "b", "c"]);
      expect(Object.keys(seen)).toHaveLength(3);
      digests.push(JSON.stringify([seen, world.loop.trace.hash, world.loop.trace.steps]));
    }

    expect(digests[0]).toBe(digests[1]);
  });
});

describe("a hot loop", () => {
  test("between two controllers that want different things is reported with both and the field, and slowed down", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE, data: { k: "-" } }));
    const wanting = (name: string, k: string) =>
      defineController({
        name,
        for: ConfigMap,
        reconcile: async (each, { client }) => {
          if (each.data?.["k"] === k) return;
          await client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { k } } });
        },
      });

    const { passes, lines, metrics } = world.start("m", {
      controllers: [wanting("hot", "1"), wanting("cold", "2")],
    });
    await world.loop.advance(600_000);

    const messages = (await world.events(object)).map(({ reason, message }) => `${reason}: ${message}`);
    expect(messages).toContain("HotLoop: hot and cold set data.k back and forth");
    expect(lines.some(({ fields }) => fields["field"] === "data.k")).toBe(true);
    expect(await metrics.expose()).toMatch(
      /setpoint_hot_loops_total\{controller="(hot|cold)",type="field flips"\} \d/,
    );
    expect(passes.length).toBeLessThan(150);
  });

  test("of a controller with itself is reported and slowed down", async () => {
    const world = await startRuntimeFixture();
    const object = await world.run(world.client(ConfigMap).create({ metadata: PLACE, data: { n: "0" } }));
    const controller = defineController({
      name: "counting",
      for: ConfigMap,
      reconcile: async (each, { client }) => {
        const n = String(Number(each.data?.["n"]) + 1);
        await client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { n } } });
      },
    });

    const { passes } = world.start("m", { controllers: [controller] });
    await world.loop.advance(600_000);

    const [event] = await world.events(object);
    expect(event).toMatchObject({ type: "Warning", reason: "HotLoop" });
    expect(event?.message).toContain(
      "counting keeps writing although nothing else changes: 50 passes in a row, last at data.n",
    );
    expect(passes.length).toBeLessThan(80);
  });
});
