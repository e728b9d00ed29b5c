/** Guarantees for tests with a cluster in a program: the same seed gives the same trace, and a run that hangs reports the reason. */
import { createHash } from "node:crypto";
import { startCluster } from "setpoint";
import type { Cluster, StartOptions } from "setpoint";
import type { ResourceType } from "setpoint/api";
import * as resources from "setpoint/resources";
import { ConfigMap, Deployment, Pod, PodDisruptionBudget, ServiceAccount } from "setpoint/resources";
import { defineController } from "setpoint/runtime";
import { describe, expect, test } from "vitest";
import { Thermostat, thermostats } from "../../examples/thermostat/thermostat.ts";

describe("the same seed", () => {
  test("gives the same history of all kinds, byte for byte, with controllers at work", async () => {
    const histories = [await history(11), await history(11), await history(12)];

    const hashes = histories.map((lines) => createHash("sha256").update(lines.join("\n")).digest("hex"));
    expect(histories[0]?.length).toBeGreaterThan(40);
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test("gives the same history while other clusters run in the process", async () => {
    const alone = await history(21);

    const [together] = await Promise.all([history(21), history(22), history(23)]);

    expect(together).toEqual(alone);
  });
});

describe("clusters of one process", () => {
  test("do not disturb each other", async () => {
    const seeds = Array.from({ length: 24 }, (_, at) => at);

    const found = await Promise.all(
      seeds.map(async (seed) => {
        const clock = seed % 3 === 0 ? "real" : "virtual";
        await using cluster = await startCluster({ clock, seed, loops: "none" });
        const name = `only-${String(seed)}`;
        await cluster.client(ConfigMap).create({ metadata: { name } });
        return cluster.objects(ConfigMap, "default").map(({ metadata }) => metadata.name);
      }),
    );

    expect(found).toEqual(seeds.map((seed) => [`only-${String(seed)}`]));
  });
});

describe("a world that does not settle", () => {
  test("says who is busy", async () => {
    const restless = defineController<ServiceAccount>({
      name: "restless",
      for: ServiceAccount,
      reconcile: () => Promise.resolve({ recheckAfterMs: 1000 }),
    });
    await using cluster = await started({ controllers: [restless] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });

    await expect(cluster.settle({ within: "1m" })).rejects.toThrow(/not quiet after.*pending: .*restless/);
  });

  test("names the loop and the key whose promise never settles", async () => {
    const waits: (() => void)[] = [];
    const stuck = defineController<ServiceAccount>({
      name: "stuck",
      for: ServiceAccount,
      reconcile: () => new Promise((resolve) => waits.push(() => resolve(undefined))),
    });
    await using cluster = await started({ controllers: [stuck] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });

    await expect(cluster.settle()).rejects.toThrow(
      /promise that never settles.*stuck.*reconcile default\/jo/,
    );

    for (const go of waits) go();
    await cluster.settle();
  });
});

test("a client that is told to retry later does so, and virtual time goes on until then", async () => {
  await using cluster = await started({});
  const { client } = cluster;
  const metadata = { name: "web", labels: { app: "web" } };
  const containers = [{ name: "c", image: "i" }];
  const conditions = [{ type: "Ready", status: "True" }];
  const pod = await client(Pod).create({ metadata, spec: { containers, nodeName: "a" } });
  await client(Pod).updateStatus(pod, { phase: "Running", conditions });
  const selector = { matchLabels: { app: "web" } };
  await client(PodDisruptionBudget).create({
    metadata: { name: "web" },
    spec: { minAvailable: 1, selector },
  });
  const began = cluster.clock.now();

  // The disruption controller has not seen the budget yet.
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web" } };
  await expect(client(Pod).subresource("eviction").create({ name: "web" }, body)).rejects.toThrow(/budget/);

  expect(cluster.clock.now() - began).toBeGreaterThanOrEqual(10_000);
});

function started(options: StartOptions): Promise<Cluster> {
  return startCluster({ clock: "virtual", loops: "none", ...options });
}

/** Every change of every kind, in the order of each watch, as text. */
async function history(seed: number): Promise<readonly string[]> {
  const cluster = await startCluster({
    clock: "virtual",
    seed,
    kinds: [Thermostat],
    controllers: [thermostats],
  });
  const types: readonly ResourceType[] = [...Object.values(resources), Thermostat];
  const recorded = types.map((type) => record(cluster, type));
  await live(cluster);
  await cluster.stop();
  return (await Promise.all(recorded)).flat();
}

async function record(cluster: Cluster, type: ResourceType): Promise<readonly string[]> {
  const lines: string[] = [];
  if (type.kind === "ComponentStatus") return lines;
  const watching = await cluster.client(type).watch({ resourceVersion: "0" });
  for await (const events of watching) {
    for (const event of events) lines.push(JSON.stringify(event));
  }
  return lines;
}

async function live(cluster: Cluster): Promise<void> {
  const { client } = cluster;
  const labels = { app: "web" };
  await client(ConfigMap).create({ metadata: { name: "hall" }, data: { degrees: "18" } });
  await Promise.all([
    client(Thermostat).create({ metadata: { generateName: "hall-" }, spec: { sensor: "hall" } }),
    client(Thermostat).create({ metadata: { generateName: "door-" }, spec: { sensor: "hall" } }),
    client(Deployment).create({
      metadata: { name: "web" },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    }),
  ]);
  await cluster.settle();
  await client(ConfigMap).patch({ name: "hall" }, { type: "merge", changes: { data: { degrees: "25" } } });
  await cluster.clock.advance("20m");
  await client(Deployment).delete({ name: "web" });
  await cluster.settle();
}
