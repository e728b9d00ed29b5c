import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isApiError } from "../../api/errors/api-error.ts";
import { ConfigMap, Namespace, Pod, Service } from "../../api/generated/types/core-v1.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import { startCluster } from "./start-cluster.ts";

describe("a cluster in a program", () => {
  test("has what clients expect of a server, and serves them without sockets", async () => {
    await using cluster = await startCluster();

    const made = await cluster.client(ConfigMap).create({ metadata: { name: "x" }, data: { k: "v" } });
    const read = await cluster.client(ConfigMap).get({ name: "x" });

    expect(read).toBe(made);
    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ]);
    expect(cluster.objects(Service, "default")).toHaveLength(1);
  });

  test("waits for the result of its loops", async () => {
    await using cluster = await startCluster();

    const waiting = cluster.until(() => cluster.objects(ConfigMap, "default").length === 2);
    await cluster.client(ConfigMap).create({ metadata: { name: "a" } });
    await cluster.client(ConfigMap).create({ metadata: { name: "b" } });

    await waiting;
  });

  test("waits for the program's own state, which no change of the cluster announces", async () => {
    await using cluster = await startCluster({ loops: "none" });
    let isDone = false;

    const waiting = cluster.until(() => isDone, { within: "5s" });
    await Promise.resolve();
    isDone = true;

    await waiting;
  });

  test("leaves settling and advancing to virtual clocks", async () => {
    await using cluster = await startCluster();

    await expect(cluster.settle()).rejects.toThrow(/needs a virtual clock/);
    await expect(cluster.clock.advance("1m")).rejects.toThrow(/needs a virtual clock/);
  });
});

describe("a cluster on a virtual clock", () => {
  test("stands still until a caller waits", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 7 });
    await cluster.settle();
    const before = cluster.clock.now();

    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
    expect(cluster.clock.now()).toBe(before);

    await cluster.clock.advance("5m");
    expect(cluster.clock.now()).toBe(before + 300_000);
  });

  test("hands out frozen values", async () => {
    await using cluster = await startCluster({ clock: "virtual" });

    const made = await cluster.client(ConfigMap).create({ metadata: { name: "x" }, data: { k: "v" } });

    expect(Object.isFrozen(made.data)).toBe(true);
  });

  test("gives the same trace for the same seed, and another for another", async () => {
    const [first, second, other] = await Promise.all([7, 7, 8].map(story));

    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("delivers changes to a watcher", async () => {
    await using cluster = await startCluster({ clock: "virtual" });
    const seen: string[] = [];

    const watching = await cluster.client(ConfigMap).watch({ namespace: "default", resourceVersion: "0" });
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
    for await (const events of watching) {
      for (const event of events) if (event.type === "ADDED") seen.push(event.object.metadata.name);
      if (seen.length === 1) break;
    }

    expect(seen).toEqual(["x"]);
  });
});

describe("a fork", () => {
  test("continues from the same state, independently of its origin", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 3 });
    const original = await cluster.client(ConfigMap).create({ metadata: { name: "x" } });

    await using fork = await cluster.fork();
    await fork.client(ConfigMap).delete(original);
    const later = await fork.client(ConfigMap).create({ metadata: { name: "y" } });

    expect(fork.clock.now()).toBe(cluster.clock.now());
    expect(cluster.objects(ConfigMap).map(({ metadata }) => metadata.name)).toEqual(["x"]);
    expect(fork.objects(ConfigMap).map(({ metadata }) => metadata.name)).toEqual(["y"]);
    expect(later.metadata.uid).not.toBe(original.metadata.uid);
  });

  test("of a cluster on the machine's clock works too", async () => {
    await using cluster = await startCluster();
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });

    await using fork = await cluster.fork();

    expect(await fork.client(ConfigMap).find({ name: "x" })).toBeDefined();
  });
});

describe("a cluster on disk", () => {
  test("keeps its state over a restart, and refuses to fork", async () => {
    const dir = mkdtempSync(join(tmpdir(), "setpoint-cluster-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const first = await startCluster({ store: { dir }, loops: "none" });
    const made = await first.client(ConfigMap).create({ metadata: { name: "x" } });
    await expect(first.fork()).rejects.toThrow("only a cluster whose store is in memory can be forked");
    await first.stop();

    await using second = await startCluster({ store: { dir }, loops: "none" });

    expect((await second.client(ConfigMap).get({ name: "x" })).metadata.uid).toBe(made.metadata.uid);
    await expect(startCluster({ store: { dir }, clock: "virtual" })).rejects.toThrow("machine's clock");
  });
});

describe("a stopped cluster", () => {
  test.each(["real", "virtual"] as const)("ends the watches that are open, on a %s clock", async (clock) => {
    const cluster = await startCluster({ clock, loops: "none" });
    const watches = await Promise.all(
      Array.from({ length: 20 }, () => cluster.client(ConfigMap).watch({ resourceVersion: "0" })),
    );
    const reading = watches.map(async (watch) => {
      let count = 0;
      for await (const events of watch) count += events.length;
      return count;
    });
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });

    await cluster.stop();

    expect(await Promise.all(reading)).toEqual(watches.map(() => 1));
  });

  test("stops although a loop cannot end, and names that loop", async () => {
    const cluster = await startCluster({ clock: "virtual", loops: "none", controllers: [waiting] });
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
    await cluster.clock.advance("1s");

    await expect(cluster.stop()).rejects.toThrow("cluster/operator/waiting: reconcile default/x");

    const asking = cluster.client(Pod).list();
    await expect(asking).rejects.toSatisfy((error) => isApiError(error, "ServiceUnavailable"));
  });

  test.each(["real", "virtual"] as const)(
    "says why its loops do not come to rest, on a %s clock",
    async (clock) => {
      const tried = new EventEmitter();
      const first = once(tried, "pass");
      const failing = defineController<ConfigMap>({
        name: "failing",
        for: ConfigMap,
        reconcile: () => {
          tried.emit("pass");
          return Promise.reject(new Error("no such shop"));
        },
      });
      await using cluster = await startCluster({ clock, loops: "none", controllers: [failing] });
      await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
      const told =
        /last warnings: a reconcile failed and is retried \(controller=failing, key=default\/x, .*error=no such shop\)/;

      if (clock === "virtual") await expect(cluster.settle()).rejects.toThrow(told);
      await first;
      await expect(cluster.until(() => false, { within: "100ms" })).rejects.toThrow(told);
    },
  );

  test("does not repeat the error of settle", async () => {
    const cluster = await startCluster({ clock: "virtual", loops: "none", controllers: [waiting] });
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
    await expect(cluster.settle()).rejects.toThrow("cluster/operator/waiting: reconcile default/x");

    await cluster.stop();
  });

  test("ends additional loops, and names those that cannot end", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: "none" });
    await cluster.client(ConfigMap).create({ metadata: { name: "x" } });
    const loops = cluster.run({ controllers: [waiting] }, "mine");
    await expect(cluster.settle()).rejects.toThrow("cluster/mine/waiting");

    await expect(loops.stop()).rejects.toThrow("cluster/mine/waiting: reconcile default/x");
  });

  test("refuses further requests", async () => {
    const cluster = await startCluster();
    await cluster.stop();

    const asking = cluster.client(Pod).list();

    await expect(asking).rejects.toSatisfy((error) => isApiError(error, "ServiceUnavailable"));
  });
});

const waiting = defineController<ConfigMap>({
  name: "waiting",
  for: ConfigMap,
  reconcile: () => new Promise(() => undefined),
});

/** Trace of a short run of a cluster. */
async function story(seed: number): Promise<string> {
  await using cluster = await startCluster({ clock: "virtual", seed });
  await Promise.all(
    ["a", "b", "c"].map((name) => cluster.client(ConfigMap).create({ metadata: { generateName: name } })),
  );
  await cluster.clock.advance("2m");
  await cluster.settle();
  return JSON.stringify([cluster.objects(ConfigMap), cluster.objects(Namespace), cluster.clock.now()]);
}
