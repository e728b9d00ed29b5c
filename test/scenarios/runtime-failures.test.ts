/** Failures of controllers reach their author: in the log, in the error of `settle`, and at the start. */
import { describe, expect, test } from "vitest";
import { ConfigMap, Secret, Service } from "../../src/api/generated/types/core-v1.ts";
import { createTextLog } from "../../src/base/log/log-text.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster, StartOptions } from "../../src/cluster/in-program/start-cluster.ts";
import { child } from "../../src/runtime/controller/child.ts";
import type { DeclaredChild } from "../../src/runtime/controller/child.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import type { Controller, ReconcileContext } from "../../src/runtime/controller/controller.ts";

function controller(reconcile: (context: ReconcileContext) => Promise<void>, name = "maps"): Controller {
  return defineController<ConfigMap>({
    name,
    for: ConfigMap,
    owns: [Secret],
    reconcile: async (_object, context) => await reconcile(context),
  });
}

async function startWith(controllers: readonly Controller[], options: StartOptions = {}): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed: 1, loops: "none", controllers, ...options });
  await cluster.client(ConfigMap).create({ metadata: { name: "a" } });
  return cluster;
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(
    () => new Error("it did not fail"),
    (error: unknown) => error as Error,
  );
}

describe("an error thrown in reconcile", () => {
  test("is in the log with the place that threw it, at the cluster's time", async () => {
    const lines: string[] = [];
    const log = createTextLog({ isColoured: false, write: (line) => void lines.push(line) });
    const throwing = async (): Promise<void> => {
      throw new TypeError("no such thing", { cause: new Error("the disk is gone") });
    };
    await using cluster = await startWith([controller(throwing)], { log });
    await failureOf(cluster.settle({ within: "1s" }));

    const line = lines.find((each) => each.includes("a reconcile failed"));

    expect(line).toMatch(/^00:00:00\.\d{3} warn/);
    expect(line).toContain('error="no such thing"');
    expect(line).toMatch(/\n {4}at .*throwing.*runtime-failures\.test\.ts:\d+/);
    expect(line).toContain("caused by: the disk is gone\n");
  });

  test("is the cause of the error of settle", async () => {
    const thrown = new Error("no such thing");
    await using cluster = await startWith([controller(() => Promise.reject(thrown))]);

    const error = await failureOf(cluster.settle());

    expect(error.cause).toBe(thrown);
  });
});

describe("a controller that gives up", () => {
  const unnamed = child(Secret, { metadata: { name: "" } });
  const twice = [1, 2].map(() => child(Secret, { metadata: { name: "s" } }));
  const unowned = child(Service, { metadata: { name: "s" } });
  const elsewhere = child(Secret, { metadata: { name: "s", namespace: "kube-system" } });
  test.each<[string, readonly DeclaredChild[], RegExp]>([
    ["a child without a name", [unnamed], /maps for default\/a: a child of kind Secret has no name/],
    ["the same child twice", twice, /default\/a: Secret\. default\/s is declared twice/],
    ["a child of a kind that is not owned", [unowned], /v1\/Service is not in `owns`/],
    ["a child in another namespace", [elsewhere], /Secret s cannot be owned from another namespace/],
  ])("makes settle fail: %s", async (_name, children, message) => {
    await using cluster = await startWith([
      controller(async (context) => void (await context.children(children))),
    ]);

    const error = await failureOf(cluster.settle());

    expect(error.message).toMatch(message);
    expect(error.cause).toMatchObject({ name: "TerminalError" });
    await cluster.settle({ terminalFailures: "expected" });
  });

  test("makes settle fail no more once a later pass succeeds", async () => {
    let isMended = false;
    const reconcile = async (context: ReconcileContext): Promise<void> =>
      void (await context.children(isMended ? [] : [unnamed]));
    await using cluster = await startWith([controller(reconcile)]);
    await failureOf(cluster.settle());

    isMended = true;
    await cluster.client(ConfigMap).patch({ name: "a" }, { type: "merge", changes: { data: { k: "v" } } });

    await cluster.settle();
  });
});

describe("a recheck that repeats for ever", () => {
  test("is named in the error of settle, with the remedy", async () => {
    const repeating = defineController<ConfigMap>({
      name: "polling",
      for: ConfigMap,
      reconcile: async () => ({ recheckAfterMs: 30_000 }),
    });
    await using cluster = await startWith([repeating]);

    const error = await failureOf(cluster.settle());

    expect(error.message).toMatch(
      /polling for default\/a \(\d+ times, every 30000 ms\); a recheck that repeats for ever needs timer: "periodic"/,
    );
  });
});

describe("a recheck without a pause", () => {
  test("is slowed down and reported with the remedy", async () => {
    let passes = 0;
    const polling = defineController<ConfigMap>({
      name: "polling",
      for: ConfigMap,
      reconcile: async () => {
        passes++;
        return { recheckAfterMs: 0, timer: "periodic" };
      },
    });
    const lines: string[] = [];
    const log = createTextLog({ isColoured: false, write: (line) => void lines.push(line) });
    await using cluster = await startWith([polling], { log });

    await cluster.clock.advance("1h");

    expect(passes).toBeGreaterThan(50);
    expect(passes).toBeLessThan(150);
    expect(lines.find((line) => line.includes("does not settle"))).toContain(
      "polling asks for a recheck after 0 ms again and again (50 passes): " +
        "watch the object that it waits for, or ask for seconds",
    );
  });
});

describe("a pass that never ends", () => {
  test("is in the log after a minute, and lets the cluster stop with its name", async () => {
    const lines: string[] = [];
    const log = createTextLog({ isColoured: false, write: (line) => void lines.push(line) });
    const cluster = await startCluster({ clock: "virtual", seed: 1, loops: "none", log });
    await cluster.client(ConfigMap).create({ metadata: { name: "a" } });
    const running = cluster.run({ controllers: [controller(() => new Promise<void>(() => undefined))] });
    await cluster.clock.advance("2m");
    const reported = lines.filter((line) => line.includes("has not ended for a minute"));

    await expect(running.stop()).rejects.toThrow("reconcile default/a");

    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain("key=default/a");
    await cluster.stop().catch(() => undefined);
  });
});

describe("two controllers of one name", () => {
  const two = [controller(async () => undefined), controller(async () => undefined)];

  test("fail when the cluster is started, and when they are run", async () => {
    await expect(startCluster({ clock: "virtual", controllers: two })).rejects.toThrow(
      "two loops are named maps: give each a name of its own",
    );
    await using cluster = await startCluster({ clock: "virtual", loops: "none" });

    expect(() => cluster.run({ controllers: two })).toThrow("two loops are named maps");
  });
});

describe.each(["virtual", "real"] as const)("a retry without end, on a %s clock", (clock) => {
  const retrying = controller(async ({ client }) => {
    for (;;) {
      try {
        await client(Secret).create({ metadata: { name: "s" } });
      } catch {
        // Tried again, also after the client was stopped.
      }
    }
  });

  test("does not keep the program from going on after kill", async () => {
    await using cluster = await startWith([], { clock });
    const running = cluster.run({ controllers: [retrying] });
    await cluster.until(() => cluster.objects(Secret, "default").length === 1);

    running.kill();
    await cluster.client(Secret).delete({ name: "s" });
    if (clock === "virtual") await cluster.settle();

    expect(cluster.objects(Secret, "default")).toEqual([]);
  });
});

describe("a pass that waits for ever", () => {
  test("does not keep settle from succeeding once its program is killed", async () => {
    await using cluster = await startWith([]);
    const running = cluster.run({ controllers: [controller(() => new Promise<void>(() => undefined))] });
    await expect(cluster.settle()).rejects.toThrow("reconcile default/a");

    running.kill();

    await cluster.settle();
  });

  test("that retries a stopped client is named by stop", async () => {
    const cluster = await startWith([]);
    let hasBegun = false;
    const running = cluster.run({
      controllers: [
        controller(async ({ client, signal }) => {
          hasBegun = true;
          for (let stopped = 0; stopped < Infinity; stopped += signal.aborted ? 1 : 0)
            await client(Secret)
              .list()
              .catch(() => undefined);
        }),
      ],
    });
    await cluster.until(() => hasBegun);

    await expect(running.stop()).rejects.toThrow("reconcile default/a");
    running.kill();
    await cluster.stop().catch(() => undefined);
  });
});
