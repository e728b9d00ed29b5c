/** The control plane's own pods in a cluster inside a program. */
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster, type Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOK = { namespace: "kube-system", labelSelector: "tier=control-plane" };

function running(cluster: Cluster): number {
  return cluster.objects(Pod, "kube-system").filter(({ status }) => status.phase === "Running").length;
}

describe("the control plane of a cluster in a program", () => {
  test("has no pods unless the program asks for them", async () => {
    await using cluster = await startCluster({ clock: "virtual" });
    await cluster.settle();

    expect((await cluster.client(Pod).list(LOOK)).items).toEqual([]);
  });

  test("has pods whose logs are the newest messages", async () => {
    await using cluster = await startCluster({ controlPlanePods: true });
    await cluster.until(() => running(cluster) === 4);
    const place = { namespace: "kube-system", name: "kube-scheduler-node-1" };

    const log = await text(await cluster.client(Pod).logs(place));

    expect(log).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info {2}started loop=default-scheduler\n$/);
  });

  test("has the same pods on a virtual clock", async () => {
    await using cluster = await startCluster({ clock: "virtual", controlPlanePods: true });
    await cluster.settle();

    expect(running(cluster)).toBe(4);
  });
});
