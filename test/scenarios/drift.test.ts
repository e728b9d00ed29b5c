/** `setpoint drift` and `setpoint top loops`. */
import { describe, expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { driftText } from "../../src/insight/drift/drift-text.ts";
import { findDrift } from "../../src/insight/drift/find-drift.ts";
import type { Drift } from "../../src/insight/drift/find-drift.ts";
import { loopFigures } from "../../src/insight/loops/loop-figures.ts";
import { loopsText } from "../../src/insight/loops/loops-text.ts";
import { parseMetrics } from "../../src/insight/loops/metrics-text.ts";
import { findStatusKinds } from "../../src/insight/served-kind.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";

async function drifts(cluster: Cluster, namespace?: string): Promise<readonly Drift[]> {
  const types = await findStatusKinds(cluster.client);
  return await findDrift(cluster.client, types, { namespace, now: cluster.clock.now() });
}

async function createWeb(cluster: Cluster, cpu: string): Promise<void> {
  const labels = { app: "web" };
  const resources = { requests: { cpu } };
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1", resources }] } },
    },
  });
}

describe("drift", () => {
  test("is empty in a cluster that has settled", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 2 });
    await createWeb(cluster, "1");
    await cluster.settle();

    const found = await drifts(cluster);

    expect(found).toEqual([]);
    expect(driftText(found, cluster.clock.now())).toBe("Everything is as desired.\n");
  });

  test("names the topmost object that differs, since when, and what its loop said", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await createWeb(cluster, "99");
    await cluster.clock.advance("6m");

    const found = await drifts(cluster);

    expect(found).toMatchObject([{ object: "Deployment default/web", dependents: 3 }]);
    expect(cluster.clock.now() - (found[0]?.since ?? 0)).toBeGreaterThan(5 * 60_000);
    expect(driftText(found, cluster.clock.now())).toMatch(
      /Deployment default\/web +0 of 2 ready, waiting for 6 min, and 3 below it +ScalingReplicaSet: .* ago\)\n$/,
    );
    expect(await drifts(cluster, "kube-system")).toEqual([]);
  });
});

describe("top loops", () => {
  test("shows rates between two readings, and names the writers of a fight", async () => {
    const insists = defineController<ConfigMap>({
      name: "insists",
      for: ConfigMap,
      async reconcile(map, { client }) {
        if (map.data?.["colour"] !== "red")
          await client(ConfigMap).patch(map, { type: "merge", changes: { data: { colour: "red" } } });
      },
    });
    const objects = defineController<ConfigMap>({
      name: "objects",
      for: ConfigMap,
      async reconcile(map, { client }) {
        if (map.metadata.name === "flag" && map.data?.["colour"] !== "blue")
          await client(ConfigMap).patch(map, { type: "merge", changes: { data: { colour: "blue" } } });
      },
    });
    await using cluster = await startCluster({
      clock: "virtual",
      loops: "none",
      controllers: [insists, objects],
    });
    await cluster.client(ConfigMap).create({ metadata: { name: "flag" }, data: { colour: "red" } });
    await cluster.clock.advance("30s");
    const events = await cluster.client.request({ path: "/api/v1/events" });
    const fights = (events as { items: Parameters<typeof loopsText>[1] }).items.filter(
      ({ reason }) => reason === "HotLoop",
    );

    const text = loopsText([], fights);

    expect(text).toMatch(
      /loops that do not settle\n {2}ConfigMap default\/flag: (insists and objects|objects and insists) set data.colour back and forth/,
    );
  });

  test("counts what happened between two readings", () => {
    const metrics = (passes: number, fast: number): string =>
      [
        `setpoint_controller_reconciles_total{controller="web",result="done"} ${String(passes)}`,
        `setpoint_controller_errors_total{controller="web"} 2`,
        `setpoint_queue_depth{controller="web"} 3`,
        `setpoint_controller_reconcile_seconds_bucket{le="0.01",controller="web"} ${String(fast)}`,
        `setpoint_controller_reconcile_seconds_bucket{le="+Inf",controller="web"} ${String(passes)}`,
        `setpoint_hot_loops_total{controller="web",type="field flips"} 1`,
      ].join("\n");

    const [figures] = loopFigures(
      { samples: parseMetrics(metrics(10, 0)), at: 0 },
      { samples: parseMetrics(metrics(30, 20)), at: 2000 },
    );

    expect(figures).toMatchObject({
      controller: "web",
      queued: 3,
      passesPerSecond: 10,
      errorsPerSecond: 0,
      p99Seconds: 0.01,
      hotLoops: 1,
    });
  });
});
