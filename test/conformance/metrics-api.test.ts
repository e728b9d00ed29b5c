/** `metrics.k8s.io`, through programs and the real kubectl. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { APIService } from "../../src/api/generated/types/apiregistration-v1.ts";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { timeText } from "../../src/api/values/time.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { isReady } from "../../src/resources/pod/pod-state.ts";
import { describePeer } from "../peers.ts";
import { Kubectl, table } from "./kubectl/kubectl.ts";

const METRICS = "/apis/metrics.k8s.io/v1beta1";
const PODS = `${METRICS}/namespaces/default/pods`;

describe("the metrics of pods and nodes", () => {
  test("are what simulated containers are told to use, with the labels of their pods", async () => {
    await using cluster = await startWithPods();

    expect(await cluster.client.request({ path: `${PODS}/big` })).toEqual({
      apiVersion: "metrics.k8s.io/v1beta1",
      kind: "PodMetrics",
      metadata: {
        name: "big",
        namespace: "default",
        labels: { size: "big" },
        creationTimestamp: now(cluster),
      },
      timestamp: now(cluster),
      window: "15s",
      containers: [
        { name: "one", usage: { cpu: "250m", memory: "64Mi" } },
        { name: "two", usage: { cpu: "1500m", memory: "64Mi" } },
      ],
    });
    expect(await cluster.client.request({ path: `${METRICS}/nodes/node-1` })).toMatchObject({
      kind: "NodeMetrics",
      usage: { cpu: "1751m", memory: "144Mi" },
    });
  });

  test("are listed by namespace and label; what does not run has none", async () => {
    await using cluster = await startWithPods();
    const names = async (path: string, query = {}) => {
      const list = (await cluster.client.request({ path, query })) as { items: { metadata: Named }[] };
      return list.items.map(({ metadata }) => metadata.name);
    };

    expect(await names(PODS)).toEqual(["big", "small"]);
    expect(await names(`${METRICS}/pods`)).toEqual(["big", "small"]);
    expect(await names(PODS, { labelSelector: "size=big" })).toEqual(["big"]);
    expect(await names(PODS, { fieldSelector: "metadata.name=small" })).toEqual(["small"]);
    expect(await names(`${METRICS}/namespaces/kube-system/pods`)).toEqual([]);
    expect(await names(`${METRICS}/nodes`)).toEqual(["node-1"]);
    await expect(cluster.client.request({ path: `${PODS}/idle` })).rejects.toThrow(
      'podmetrics.metrics.k8s.io "default/idle" not found',
    );
    await expect(cluster.client.request({ path: `${PODS}/none` })).rejects.toThrow('pods "none" not found');
  });

  test("cannot be watched or written", async () => {
    await using cluster = await startWithPods();

    await expect(cluster.client.request({ path: PODS, query: { watch: "true" } })).rejects.toMatchObject({
      reason: "MethodNotAllowed",
    });
    await expect(
      cluster.client.request({ path: PODS, method: "POST", body: { kind: "PodMetrics" } }),
    ).rejects.toMatchObject({ reason: "MethodNotAllowed" });
  });

  test("are registered as a group of the server's own, and described", async () => {
    await using cluster = await startWithPods();
    const service = cluster.objects(APIService).find(({ metadata }) => metadata.name.includes("metrics"));

    expect(service?.metadata.name).toBe("v1beta1.metrics.k8s.io");
    expect(service?.status.conditions).toMatchObject([
      { type: "Available", status: "True", reason: "Local" },
    ]);
    expect(await cluster.client.request({ path: METRICS })).toMatchObject({
      resources: [
        { name: "nodes", namespaced: false, kind: "NodeMetrics", verbs: ["get", "list"] },
        { name: "pods", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] },
      ],
    });
    const description = (await cluster.client.request({ path: `/openapi/v3${METRICS}` })) as {
      components: { schemas: object };
    };
    expect(Object.keys(description.components.schemas)).toContain(
      "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics",
    );
  });

  test("are not served without simulated nodes", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: [] });

    await expect(cluster.client.request({ path: PODS })).rejects.toMatchObject({ reason: "NotFound" });
    expect(await cluster.client.request({ path: "/apis" })).not.toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ name: "metrics.k8s.io" })]) as unknown,
    });
  });
});

describePeer("kubectl", "kubectl top", (path) => {
  test("shows what pods and nodes use", async () => {
    const home = mkdtempSync(join(tmpdir(), "setpoint-top-"));
    await using cluster = await startWithPods();
    const kubectl = new Kubectl({ path, kubeconfig: await cluster.kubeconfig(), home }, "default");

    const [pods, containers, nodes, shown] = await Promise.all([
      kubectl.ok("top", "pods"),
      kubectl.ok("top", "pod", "big", "--containers"),
      kubectl.ok("top", "nodes"),
      kubectl.ok("get", "pods.metrics.k8s.io", "--selector", "size=big"),
    ]);
    rmSync(home, { recursive: true });

    expect(rows(pods)).toEqual([
      ["NAME", "CPU(cores)", "MEMORY(bytes)"],
      ["big", "1750m", "128Mi"],
      ["small", "1m", "16Mi"],
    ]);
    expect(rows(containers)).toEqual([
      ["POD", "NAME", "CPU(cores)", "MEMORY(bytes)"],
      ["big", "one", "250m", "64Mi"],
      ["big", "two", "1500m", "64Mi"],
    ]);
    expect(rows(nodes)[1]).toEqual(["node-1", "1751m", "21%", "144Mi", "0%"]);
    expect(table(shown)).toEqual([
      ["NAME", "CPU", "MEMORY", "WINDOW"],
      ["big", "1750m", "128Mi", "AGE"],
    ]);
  });
});

describePeer("kubectl", "kubectl autoscale", (path) => {
  test("makes an autoscaler that kubectl shows with its load, conditions and events", async () => {
    const home = mkdtempSync(join(tmpdir(), "setpoint-autoscale-"));
    const loops = ["deployment-controller", "replicaset-controller", "horizontal-pod-autoscaler"];
    await using cluster = await startCluster({ clock: "virtual", loops, nodes: 1 });
    await cluster.until(() => cluster.objects(Node).length === 1);
    await createDeployment(cluster);
    await cluster.clock.advance("1m");
    const kubectl = new Kubectl({ path, kubeconfig: await cluster.kubeconfig(), home }, "default");

    const size = ["--min=1", "--max=6", "--cpu-percent=50"];
    await kubectl.ok("autoscale", "deployment", "web", ...size);
    await kubectl.ok("wait", "hpa/web", "--for=condition=ScalingActive", "--timeout=10s");
    const [shown, described] = await Promise.all([
      kubectl.ok("get", "hpa"),
      kubectl.ok("describe", "hpa", "web"),
    ]);
    rmSync(home, { recursive: true });

    expect(table(shown)[0]).toEqual([
      "NAME",
      "REFERENCE",
      "TARGETS",
      "MINPODS",
      "MAXPODS",
      "REPLICAS",
      "AGE",
    ]);
    expect(table(shown)[1]?.slice(0, 5)).toEqual(["web", "Deployment/web", "cpu: 90%/50%", "1", "6"]);
    expect(described).toMatch(/AbleToScale +True +\w+/);
    expect(described).toMatch(/ScalingActive +True +ValidMetricFound/);
    expect(described).toMatch(
      /SuccessfulRescale.*horizontal-pod-autoscaler +New size: 4; reason: cpu resource utilization \(percentage of request\) above target/,
    );
  });
});

async function createDeployment(cluster: Cluster): Promise<void> {
  const annotations = { "simulated.setpoint.dev/cpu": "90m" };
  const resources = { requests: { cpu: "100m" } };
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations },
        spec: { nodeName: "node-1", containers: [{ name: "web", image: "web:1", resources }] },
      },
    },
  });
}

interface Named {
  readonly name: string;
}

/** One node with three pods; the last pod never gets its image. */
async function startWithPods(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", loops: [], nodes: 1 });
  await cluster.until(() => cluster.objects(Node).length === 1);
  const told = "simulated.setpoint.dev";
  await createPod(cluster, "big", {
    [`${told}/cpu`]: "250m",
    [`two.${told}/cpu`]: "1500m",
    [`${told}/memory`]: "64Mi",
  });
  await createPod(cluster, "small", {});
  await createPod(cluster, "idle", { [`${told}/start-delay`]: "1h" });
  const isUp = (pod: Pod): boolean => pod.metadata.name === "idle" || isReady(pod);
  await cluster.until(() => cluster.objects(Pod, "default").every(isUp));
  return cluster;
}

async function createPod(
  cluster: Cluster,
  name: string,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const names = name === "big" ? ["one", "two"] : ["one"];
  await cluster.client(Pod).create({
    metadata: { name, namespace: "default", labels: { size: name }, annotations },
    spec: { nodeName: "node-1", containers: names.map((each) => ({ name: each, image: "app:1" })) },
  });
}

function now(cluster: Cluster): string {
  return timeText(cluster.clock.now());
}

function rows(text: string): readonly (readonly string[])[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/ +/));
}
