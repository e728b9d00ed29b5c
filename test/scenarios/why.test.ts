/** `setpoint why`: the chain of causes, as text. */
import { describe, expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { explainObject } from "../../src/insight/explain/explain-object.ts";
import { explanationText } from "../../src/insight/explain/explanation-text.ts";
import { findServedKind } from "../../src/insight/served-kind.ts";

async function startWeb(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", nodes: 2 });
  const labels = { app: "web" };
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  });
  await cluster.settle();
  return cluster;
}

async function why(cluster: Cluster, kind: string, name: string): Promise<string> {
  const type = await findServedKind(cluster.client, kind);
  if (type === undefined) throw new Error(`there is no kind ${kind}`);
  const asked = { type, name, namespace: type.namespaced ? "default" : "" };
  const text = explanationText(await explainObject(cluster.client, asked, cluster.clock.now()));
  return text
    .replaceAll(/web-[a-z0-9]{8,10}(-[a-z0-9]{5})?/g, "web-X")
    .replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "HH:MM:SS");
}

function podName(cluster: Cluster): string {
  return cluster.objects(Pod)[0]?.metadata.name ?? "";
}

describe("why", () => {
  test("leads from a pod to the user who created its Deployment", async () => {
    await using cluster = await startWeb();
    await cluster.clock.advance("12s");

    const text = await why(cluster, "po", podName(cluster));

    expect(text).toMatch(
      /^Pod default\/web-X: Running, ready for 1\d s\n\nwhy it exists\n {2}kubernetes-admin \(setpoint\) created Deployment web +HH:MM:SS {2}rev \d+\n/,
    );
    expect(text).toMatch(
      /└ deployment-controller saw Deployment web +pass \d+\n.*└ created ReplicaSet web-X/,
    );
    expect(text).toMatch(
      /└ replicaset-controller saw ReplicaSet web-X, which wants 1 pods, has 0 +pass \d+\n.*└ created Pod web-X/,
    );
    expect(text).toMatch(
      /├ scheduler chose node-\d: best score of 2 nodes that fit, of 2 +HH:MM:SS {2}rev \d+\n/,
    );
    expect(text).toMatch(/└ kubelet on node-\d reported Running, then Ready/);
  });

  test("names the deletion that made a replacement necessary", async () => {
    await using cluster = await startWeb();
    const first = podName(cluster);
    await cluster.client.with({ fieldManager: "jo" })(Pod).delete({ name: first });
    await cluster.settle();

    const text = await why(cluster, "pod", podName(cluster));

    expect(text).toMatch(/why it exists\n {2}kubernetes-admin( \([^)]*\))? deleted Pod web-X/);
    expect(text).toMatch(/└ replicaset-controller saw ReplicaSet web-X, which wants 1 pods, has 0/);
  });

  test("tells who asked for how many", async () => {
    await using cluster = await startWeb();
    await cluster.client(Deployment).scale({ name: "web" }, 3);
    await cluster.settle();

    const text = await why(cluster, "pod", podName(cluster));

    expect(text).toMatch(/why 3\n {2}kubernetes-admin( \([^)]*\))? set Deployment web spec.replicas: 1 → 3 /);
  });

  test("leaves out of the latest changes what controllers note for themselves", async () => {
    await using cluster = await startWeb();
    const container = { name: "web", image: "web:2" };
    const template = { spec: { containers: [container] } };
    await cluster
      .client(Deployment)
      .patch({ name: "web" }, { type: "strategic", changes: { spec: { template } } });
    await cluster.settle();

    const text = await why(cluster, "deploy", "web");

    expect(cluster.objects(Deployment)[0]?.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "2",
    });
    expect(text).toMatch(/latest changes\n {2}kubernetes-admin[^\n]* set Deployment web [^\n]*web:1 → web:2/);
    expect(text).not.toContain("deployment.kubernetes.io/");
  });

  test("tells of an object that is gone who removed it, and refuses a name that never existed", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: [] });
    await cluster.client(ConfigMap).create({ metadata: { name: "web" } });
    await cluster.client(ConfigMap).delete({ name: "web" });

    expect(await why(cluster, "cm", "web")).toMatch(
      /^ConfigMap default\/web: does not exist any more, deleted \d s ago by kubernetes-admin[^]*removed ConfigMap web/,
    );
    await expect(why(cluster, "cm", "never")).rejects.toThrow('configmaps "never" not found');
  });
});
