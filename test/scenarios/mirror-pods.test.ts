/** Static pods of a node, and the mirror pods that show them. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { StaticPods } from "../../src/agent/static/static-pod.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { startCluster, type Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { ComponentHandler } from "../../src/cluster/logs/component-handler.ts";
import { nodeLoops } from "../../src/cluster/loops/loops.ts";

const PLACE = { namespace: "kube-system", name: "part-node-1" };

function statics(image: string): StaticPods {
  const spec = { containers: [{ name: "part", image }], hostNetwork: true };
  const loop = createRealLoop({ name: "statics" });
  return {
    pods: [{ node: "node-1", namespace: "kube-system", name: "part", labels: { component: "part" }, spec }],
    handler: (listener) =>
      new ComponentHandler({ loop, listener, readLog: () => Readable.from(["a line\n"]) }),
  };
}

async function startWith(image = "part:1"): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", nodes: 0 });
  cluster.run(nodeLoops(2, { hasRootCa: false, statics: statics(image) }), "nodes");
  await cluster.settle();
  return cluster;
}

describe("a static pod", () => {
  test("is shown by a mirror pod that runs on its node", async () => {
    await using cluster = await startWith();

    const { metadata, spec, status } = await cluster.client(Pod).get(PLACE);
    expect(metadata).toMatchObject({
      labels: { component: "part" },
      annotations: { "kubernetes.io/config.mirror": expect.stringMatching(/^[0-9a-f]{32}$/) as unknown },
      ownerReferences: [{ kind: "Node", name: "node-1" }],
    });
    expect(spec.nodeName).toBe("node-1");
    expect(status).toMatchObject({ phase: "Running", containerStatuses: [{ ready: true, restartCount: 0 }] });
  });

  test("comes back when its mirror is deleted, with or without a grace period", async () => {
    await using cluster = await startWith();
    const pods = cluster.client(Pod);
    const uids = [];
    for (const options of [{}, { gracePeriodSeconds: 0 }]) {
      uids.push((await pods.get(PLACE)).metadata.uid);
      await pods.delete(PLACE, options);
      await cluster.settle();
    }

    const { metadata, status } = await pods.get(PLACE);
    expect(new Set([...uids, metadata.uid]).size).toBe(3);
    expect(status.phase).toBe("Running");
  });

  test("costs its node no room", async () => {
    await using cluster = await startWith();

    const room = async (name: string) =>
      (await cluster.client(Node).get({ name })).status.allocatable?.["pods"];
    expect([await room("node-1"), await room("node-2")]).toEqual(["111", "110"]);
  });

  test("is replaced when a newer version of the program has another one", async () => {
    await using cluster = await startWith();
    await cluster.client(Pod).get(PLACE);
    await using newer = await cluster.fork();
    newer.run(nodeLoops(2, { hasRootCa: false, statics: statics("part:2") }), "nodes");
    await newer.settle();

    const { spec, status } = await newer.client(Pod).get(PLACE);
    expect([spec.containers[0]?.image, status.phase]).toEqual(["part:2", "Running"]);
  });

  test("takes no pod that only claims to be its mirror", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 0 });
    const annotations = { "kubernetes.io/config.mirror": "x" };
    const containers = [{ name: "part", image: "other:1" }];
    cluster.run(nodeLoops(1, { hasRootCa: false }), "first");
    await cluster.client(Pod).create({
      metadata: { ...PLACE, annotations },
      spec: { nodeName: "node-1", containers },
    });
    await cluster.settle();
    await using next = await cluster.fork();
    next.run(nodeLoops(1, { hasRootCa: false, statics: statics("part:1") }), "nodes");
    await next.settle();

    expect((await next.client(Pod).get(PLACE)).spec.containers[0]?.image).toBe("part:1");
  });
});
