import { describe, expect, test } from "vitest";
import { parseCause } from "../../src/api/causes/cause-text.ts";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Secret, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { defineController, TerminalError, watching } from "../../src/runtime/controller/controller.ts";
import { addFinalizer, removeFinalizer } from "../../src/runtime/controller/finalizer.ts";
import { startRuntimeFixture } from "./runtime-fixture.ts";
import type { Link, RuntimeFixture } from "./runtime-fixture.ts";

const PLACE = { namespace: "default", name: "a" };

function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
): {
  metadata: { name: string; namespace: string };
  data: Readonly<Record<string, string>>;
} {
  return { metadata: { name, namespace: "default" }, data };
}

describe("a controller", () => {
  test("sees what is there at the start, what changes, and what its mappings name", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    const seen: string[] = [];
    const controller = defineController({
      name: "looker",
      for: ConfigMap,
      watches: [watching(Secret, ({ after }) => (after?.data?.["of"] === undefined ? [] : [PLACE]))],
      reconcile: async (object) => void seen.push(`${object.metadata.name} ${object.data?.["k"] ?? "-"}`),
    });

    world.start("m", { controllers: [controller] });
    await world.loop.settle();
    await world.run(world.client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { k: "v" } } }));
    await world.loop.settle();
    await world.run(
      world.client(Secret).create({ metadata: { name: "s", namespace: "default" }, data: { of: "YQ==" } }),
    );
    await world.loop.settle();

    expect(seen).toEqual(["a -", "a v", "a v"]);
  });

  test("never has two passes of one key at once, and several keys at once up to its concurrency", async () => {
    const world = await startRuntimeFixture();
    for (const name of ["a", "b", "c", "d", "e"])
      await world.run(world.client(ConfigMap).create(configMap(name)));
    const running = new Set<string>();
    let most = 0;
    const controller = defineController({
      name: "slow",
      for: ConfigMap,
      concurrency: 3,
      reconcile: async (object, { client }) => {
        const { name } = object.metadata;
        expect(running.has(name)).toBe(false);
        running.add(name);
        most = Math.max(most, running.size);
        for (let n = 0; n < 3; n++) await client(ConfigMap).get(object);
        running.delete(name);
      },
    });

    world.start("m", { controllers: [controller] });
    for (let n = 0; n < 20; n++) {
      const name = "abcde".charAt(n % 5);
      await world.run(world.client(ConfigMap).update(await freshened(world, name, String(n))));
    }
    await world.loop.settle();

    expect(most).toBe(3);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "never acts twice on a cache older than its own write (seed %i)",
    async (seed) => {
      const world = await startRuntimeFixture(seed);
      await world.run(world.client(ConfigMap).create(configMap("a")));
      const controller = defineController({
        name: "maker",
        for: ConfigMap,
        reads: [Secret],
        // A generated name: a controller that does not see its object creates another.
        reconcile: async (object, { cache, client }) => {
          if (cache(Secret).list().length === 0)
            await client(Secret).create({ metadata: { generateName: "made-", namespace: "default" } });
          const [made] = cache(Secret).list();
          if (object.data?.["drop"] === "yes" && made !== undefined) await client(Secret).delete(made);
        },
      });

      world.start("m", { controllers: [controller] });
      for (let n = 0; n < 10; n++) {
        const changed = { ...(await freshened(world, "a", String(n))) };
        await world.run(world.client(ConfigMap).update(changed));
      }
      await world.loop.settle();

      expect((await world.run(world.client(Secret).list())).items).toHaveLength(1);
    },
  );

  test("tries again what failed, with growing waits and one line in the log each, and counts it", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    const times: number[] = [];
    const controller = defineController({
      name: "failing",
      for: ConfigMap,
      reconcile: async () => {
        times.push(world.loop.elapsed());
        if (times.length < 6) throw new Error("not yet");
      },
    });

    const { lines, metrics, passes } = world.start("m", { controllers: [controller] });
    await world.loop.settle();

    expect(times).toHaveLength(6);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(5);
    expect(passes.map(({ result }) => result)).toEqual([
      ...Array.from({ length: 5 }, () => "failed"),
      "done",
    ]);
    expect(passes.at(-1)?.causes.kept).toEqual([{ type: "retry", attempt: 5 }]);
    const text = await metrics.expose();
    expect(text).toContain('setpoint_controller_reconciles_total{controller="failing",result="failed"} 5');
    expect(text).toContain('setpoint_controller_errors_total{controller="failing"} 5');
    expect(text).toContain('setpoint_queue_depth{controller="failing"} 0');
    expect(text).toContain('workqueue_depth{name="failing"} 0');
    expect(text).toMatch(/workqueue_adds_total\{name="failing"\} [1-9]/);
    expect(text).toMatch(/workqueue_retries_total\{name="failing"\} [1-9]/);
    expect(text).toMatch(/workqueue_work_duration_seconds_count\{name="failing"\} [1-9]/);
  });

  test("does not try again what failed for good, until something changes", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    let passes = 0;
    const controller = defineController({
      name: "terminal",
      for: ConfigMap,
      reconcile: () => {
        passes++;
        return Promise.reject(new TerminalError("never"));
      },
    });

    const { lines } = world.start("m", { controllers: [controller] });
    await world.loop.advance(600_000);
    expect(passes).toBe(1);
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
    await world.run(world.client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { k: "v" } } }));
    await world.loop.settle();

    expect(passes).toBe(2);
  });

  test("looks again when it asked to, on its resync period, and when an object has vanished", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    const log: string[] = [];
    const note = (what: string): void => void log.push(`${what} ${world.loop.elapsed()}`);
    const controller = defineController({
      name: "clock",
      for: ConfigMap,
      resyncMs: 60_000,
      reconcile: async () => {
        note("pass");
        return log.length === 1 ? { recheckAfterMs: 5000 } : undefined;
      },
      vanished: async ({ name }) => note(`vanished ${name}`),
    });

    world.start("m", { controllers: [controller] });
    await world.loop.settle();
    await world.loop.advance(60_000 - world.loop.elapsed());
    await world.run(world.client(ConfigMap).delete(PLACE));
    await world.loop.settle();

    expect(log).toEqual(["pass 0", "pass 5000", "pass 60000", "vanished a 60000"]);
  });

  test("puts its finalizer on before the first pass and takes it off when all is cleaned up", async () => {
    const world = await startRuntimeFixture();
    const made = await world.run(
      world.client(ConfigMap).create({ metadata: { ...PLACE, finalizers: ["other.example/keep"] } }),
    );
    const log: string[] = [];
    const controller = defineController({
      name: "cleaner",
      for: ConfigMap,
      finalizer: "example.com/cleaner",
      reconcile: async ({ metadata }) => void log.push(`pass ${String(metadata.finalizers)}`),
      finalize: async () => {
        log.push("finalize");
        return log.filter((line) => line === "finalize").length < 3 ? { recheckAfterMs: 1000 } : undefined;
      },
    });

    world.start("m", { controllers: [controller] });
    await world.loop.settle();
    await world.run(world.client(ConfigMap).delete(made));
    await world.loop.settle();

    expect(log.filter((line) => line === "finalize")).toHaveLength(3);
    expect(new Set(log)).toEqual(new Set(["pass other.example/keep,example.com/cleaner", "finalize"]));
    const left = await world.run(world.client(ConfigMap).get(PLACE));
    expect(left.metadata.finalizers).toEqual(["other.example/keep"]);
  });

  test("writes a status once, with the generation it is about, and in its own name", async () => {
    const world = await startRuntimeFixture();
    const labels = { app: "x" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    const made = await world.run(world.client(ReplicaSet).create({ metadata: PLACE, spec }));
    const controller = defineController({
      name: "status-writer",
      for: ReplicaSet,
      reconcile: async (object, { updateStatus }) =>
        void (await updateStatus(object, { replicas: 0, readyReplicas: 0 })),
    });

    const { passes, link } = world.start("m", { controllers: [controller] });
    await world.loop.settle();

    const read = await world.run(world.client(ReplicaSet).get(PLACE));
    expect(read.status).toMatchObject({ replicas: 0, observedGeneration: 1 });
    expect(read.metadata.managedFields?.map(({ manager }) => manager)).toContain("status-writer");
    expect(passes.length).toBeGreaterThanOrEqual(2);
    const writes = link.requests.filter(({ method, path }) => method === "PUT" && path.endsWith("/status"));
    expect(writes).toHaveLength(1);
    expect(parseCause(writes[0]?.cause ?? "")).toMatchObject({
      pass: passes[0]?.id,
      subject: { kind: "ReplicaSet", name: PLACE.name },
    });
    expect(made.metadata.generation).toBe(1);
  });
});

describe("a controller whose watches lag behind", () => {
  test("waits for what it wrote, but not for ever", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    const times: number[] = [];
    const controller = defineController({
      name: "blind",
      for: ConfigMap,
      reconcile: async (object, { client }) => {
        times.push(world.loop.elapsed());
        link.watches = "held";
        if (times.length === 1)
          await client(ConfigMap).patch(object, { type: "merge", changes: { data: { k: "v" } } });
        return { recheckAfterMs: 1000 };
      },
    });
    const { link, lines } = world.start("m", { controllers: [controller] });

    await world.loop.until(() => times.length === 2);
    link.watches = "flowing";

    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(30_000);
    expect(lines.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      "the cache has not seen the last writes in time; the next pass may use stale data",
    ]);
  });

  test("waits for what it read past its caches: a finalizer that is found to be off is off for it too", async () => {
    const world = await startRuntimeFixture();
    const metadata = { ...configMap("a").metadata, finalizers: ["example.com/ours"] };
    await world.run(world.client(ConfigMap).create({ ...configMap("a"), metadata }));
    const seen: (readonly string[] | undefined)[] = [];
    const controller = defineController({
      name: "blind",
      for: ConfigMap,
      reconcile: async (object, { client }) => {
        seen.push(object.metadata.finalizers);
        if (seen.length > 1) return;
        link.watches = "held";
        await removeFinalizer(world.client(ConfigMap), object, "example.com/ours");
        await removeFinalizer(client(ConfigMap), object, "example.com/ours");
        return { recheckAfterMs: 0 };
      },
    });
    const { link } = world.start("m", { controllers: [controller] });

    await world.loop.advance(20_000);
    expect(seen).toHaveLength(1);
    link.watches = "flowing";
    await world.loop.until(() => seen.length >= 2);

    expect(seen[1]).toBeUndefined();
  });

  test("waits until what it let go of is gone", async () => {
    const world = await startRuntimeFixture();
    const { times, link } = await runLettingGo(world);

    await world.loop.advance(20_000);
    link.watches = "flowing";
    await world.loop.advance(20_000);

    expect(times).toHaveLength(1);
  });

  test("waits until what it finds gone is gone for it too", async () => {
    const world = await startRuntimeFixture();
    const { times, link } = await runLettingGo(world, (object) =>
      removeFinalizer(world.client(ConfigMap), object, "example.com/ours"),
    );

    await world.loop.advance(20_000);
    link.watches = "flowing";
    await world.loop.advance(20_000);

    expect(times).toHaveLength(1);
  });

  test("loses no finalizer of others when it adds or takes off its own on old facts", async () => {
    const world = await startRuntimeFixture();
    const client = world.client(ConfigMap);
    const old = await world.run(client.create(configMap("a")));
    const changes = { metadata: { finalizers: ["example.com/theirs"] } };
    await world.run(client.patch(old, { type: "merge", changes }));

    const added = await world.run(addFinalizer(client, old, "example.com/ours"));
    const more = { metadata: { finalizers: [...(added?.metadata.finalizers ?? []), "example.com/more"] } };
    await world.run(client.patch(old, { type: "merge", changes: more }));
    await world.run(removeFinalizer(client, added ?? old, "example.com/ours"));

    expect(added?.metadata.finalizers).toEqual(["example.com/theirs", "example.com/ours"]);
    const left = await world.run(client.get(old));
    expect(left.metadata.finalizers).toEqual(["example.com/theirs", "example.com/more"]);
  });

  test("does not put its finalizer on another object of the same name", async () => {
    const world = await startRuntimeFixture();
    const client = world.client(ConfigMap);
    const old = await world.run(client.create(configMap("a")));
    await world.run(client.delete(old));
    await world.run(client.create(configMap("a")));

    expect(await world.run(addFinalizer(client, old, "example.com/ours"))).toBeUndefined();
    expect((await world.run(client.get(old))).metadata.finalizers).toBeUndefined();
  });

  test("writes its status over a changed spec, but not over another writer's status", async () => {
    const world = await startRuntimeFixture();
    const labels = { app: "x" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await world.run(world.client(ReplicaSet).create({ metadata: PLACE, spec }));
    const others = world.client(ReplicaSet);
    let round = 0;
    const controller = defineController({
      name: "status-writer",
      for: ReplicaSet,
      reconcile: async (object, { updateStatus }) => {
        round++;
        if (round === 1) await others.patch(PLACE, { type: "merge", changes: { spec: { replicas: 1 } } });
        if (round === 2) {
          const changes = { status: { replicas: 7 } };
          await others.patch(PLACE, { type: "merge", changes }, { subresource: "status" });
        }
        await updateStatus(object, { replicas: 3, fullyLabeledReplicas: round });
      },
    });
    const { passes } = world.start("m", { controllers: [controller] });
    await world.loop.until(() => passes.length >= 2);

    expect(passes.slice(0, 2).map(({ result }) => result)).toEqual(["done", "failed"]);
    const { status } = await world.run(others.get(PLACE));
    expect(status).toMatchObject({ replicas: 7, fullyLabeledReplicas: 1, observedGeneration: 1 });
  });
});

describe("children", () => {
  test.each([
    ["in process", false],
    ["over a network", true],
  ])(
    "are made as declared, mended, and deleted when no longer declared; nothing is written when all is well (%s)",
    async (_where, isNetwork) => {
      const world = await startRuntimeFixture();
      await world.run(world.client(ConfigMap).create(configMap("a", { children: "x,y" })));
      const controller = defineController({
        name: "parent",
        for: ConfigMap,
        owns: [Secret, ServiceAccount],
        when: ({ after }) => after?.metadata.name === "a",
        reconcile: async (object, { children }) => {
          const names = (object.data?.["children"] ?? "").split(",");
          const answered = await children([
            ...names.map((name) => ({
              apiVersion: "v1",
              kind: "Secret",
              metadata: { name, labels: { of: "a" } },
              stringData: undefined,
              data: { k: "dg==" },
            })),
            { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sa" }, secrets: [{ name: "x" }] },
          ]);
          expect(answered.map(({ metadata }) => metadata.name)).toEqual([...names, "sa"]);
        },
      });

      const { link, passes } = world.start("m", { controllers: [controller], isNetwork });
      const patches = (): number => link.requests.filter(({ method }) => method === "PATCH").length;
      await world.loop.settle();
      const secrets = await world.run(world.client(Secret).list());
      expect(secrets.items.map(({ metadata }) => metadata.name)).toEqual(["x", "y"]);
      expect(secrets.items[0]?.metadata.ownerReferences).toMatchObject([
        { kind: "ConfigMap", name: "a", controller: true },
      ]);
      expect(patches()).toBe(3);
      expect(passes.length).toBeGreaterThan(1);

      const x = { namespace: "default", name: "x" };
      await world.run(world.client(Secret).patch(x, { type: "merge", changes: { data: { k: "eA==" } } }));
      await world.loop.settle();
      expect((await world.run(world.client(Secret).get(x))).data).toEqual({ k: "dg==" });
      expect(patches()).toBe(4);

      await world.run(
        world.client(ConfigMap).patch(PLACE, { type: "merge", changes: { data: { children: "y" } } }),
      );
      await world.loop.settle();
      const left = await world.run(world.client(Secret).list());
      expect(left.items.map(({ metadata }) => metadata.name)).toEqual(["y"]);
      expect(patches()).toBe(4);
    },
  );

  test("of another owner are not taken over", async () => {
    const world = await startRuntimeFixture();
    await world.run(world.client(ConfigMap).create(configMap("a")));
    const other = { apiVersion: "v1", kind: "ConfigMap", name: "b", uid: "other", controller: true };
    await world.run(
      world
        .client(Secret)
        .create({ metadata: { name: "x", namespace: "default", ownerReferences: [other] } }),
    );
    const errors: string[] = [];
    const controller = defineController({
      name: "parent",
      for: ConfigMap,
      owns: [Secret],
      reconcile: async (_object, { children }) => {
        try {
          await children([
            { apiVersion: "v1", kind: "Secret", metadata: { name: "x" }, data: { k: "dg==" } },
          ]);
        } catch (error) {
          errors.push((error as Error).message);
        }
      },
    });

    world.start("m", { controllers: [controller] });
    await world.loop.settle();

    expect(errors).toEqual(["Secret default/x is controlled by ConfigMap b"]);
    const secret = await world.run(world.client(Secret).get({ namespace: "default", name: "x" }));
    expect(secret.metadata.ownerReferences).toMatchObject([{ uid: "other" }]);
  });
});

/** A controller that removes its finalizer from deleted objects; its watch does not show the result. */
async function runLettingGo(
  world: RuntimeFixture,
  before: (object: ConfigMap) => Promise<unknown> = async () => undefined,
): Promise<{ readonly times: readonly number[]; readonly link: Link }> {
  const finalizers = ["example.com/ours"];
  await world.run(world.client(ConfigMap).create({ metadata: { ...PLACE, finalizers } }));
  await world.run(world.client(ConfigMap).delete(PLACE));
  const times: number[] = [];
  const controller = defineController({
    name: "letting-go",
    for: ConfigMap,
    reconcile: async (object, { client }) => {
      times.push(world.loop.elapsed());
      link.watches = "held";
      await before(object);
      await removeFinalizer(client(ConfigMap), object, "example.com/ours");
      return { recheckAfterMs: 1000 };
    },
  });
  const { link } = world.start("m", { controllers: [controller] });
  return { times, link };
}

async function freshened(
  world: Awaited<ReturnType<typeof startRuntimeFixture>>,
  name: string,
  value: string,
): Promise<ConfigMap> {
  const read = await world.run(world.client(ConfigMap).get({ namespace: "default", name }));
  return { ...read, data: { ...read.data, value } };
}
