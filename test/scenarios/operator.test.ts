/** Guarantees for authors of operators, with the smallest operator: a ConfigMap for each ServiceAccount. */
import { describe, expect, test } from "vitest";
import { ConfigMap, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";
import type { Controller } from "../../src/runtime/controller/controller.ts";

const badge: Controller = defineController<ServiceAccount>({
  name: "badge",
  for: ServiceAccount,
  owns: [ConfigMap],
  async reconcile(account, { children }) {
    const { name } = account.metadata;
    await children([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `badge-${name}` }, data: { name } },
    ]);
  },
});

describe.each([1, 2, 3])("an operator on the virtual clock, seed %s", (seed) => {
  test("makes what is declared, and makes it again when it is deleted or changed", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none", controllers: [badge] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });
    await cluster.settle();
    expect(badges(cluster)).toEqual(["badge-jo: jo"]);

    await cluster.client(ConfigMap).delete({ name: "badge-jo" });
    await cluster.settle();
    expect(badges(cluster)).toEqual(["badge-jo: jo"]);

    await cluster
      .client(ConfigMap)
      .patch({ name: "badge-jo" }, { type: "merge", changes: { data: { name: "eve" } } });
    await cluster.settle();
    expect(badges(cluster)).toEqual(["badge-jo: jo"]);
  });

  test("does nothing more once everything is as it should be", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none", controllers: [badge] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });
    await cluster.settle();
    const before = cluster.objects(ConfigMap, "default");

    await cluster.clock.advance("24h");

    expect(cluster.objects(ConfigMap, "default")).toEqual(before);
  });

  test("goes on where it was when it is stopped and run again", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    const first = cluster.run({ controllers: [badge] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });
    await cluster.settle();
    await first.stop();
    await cluster.client(ConfigMap).delete({ name: "badge-jo" });
    await cluster.settle();
    expect(badges(cluster)).toEqual([]);

    cluster.run({ controllers: [badge] });
    await cluster.settle();

    expect(badges(cluster)).toEqual(["badge-jo: jo"]);
  });

  test("lives on in a fork, as after a crash", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none", controllers: [badge] });
    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });

    await using fork = await cluster.fork();
    await fork.client(ServiceAccount).create({ metadata: { name: "kim" } });
    await fork.settle();

    expect(badges(fork)).toEqual(["badge-jo: jo", "badge-kim: kim"]);
    expect(badges(cluster)).toEqual(["badge-jo: jo"]);
  });
});

describe("an operator in real time", () => {
  test("works the same", async () => {
    await using cluster = await startCluster({ loops: "none", controllers: [badge] });

    await cluster.client(ServiceAccount).create({ metadata: { name: "jo" } });

    await cluster.until(() => badges(cluster).length === 1);
  });
});

function badges(cluster: Cluster): readonly string[] {
  return cluster
    .objects(ConfigMap, "default")
    .map(({ metadata, data }) => `${metadata.name}: ${data?.["name"] ?? ""}`);
}
