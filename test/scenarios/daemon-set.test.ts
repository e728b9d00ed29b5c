import { describe, expect, test } from "vitest";
import { ControllerRevision, DaemonSet } from "../../src/api/generated/types/apps-v1.ts";
import type { DaemonSetSpec } from "../../src/api/generated/types/apps-v1.ts";
import { Event, Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import type { PodSpec, Taint } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";
import { isActive, isReady } from "../../src/resources/pod/pod-state.ts";

const LOOPS = ["daemonset-controller"];

describe.each([1, 2, 3])("a DaemonSet, seed %s", (seed) => {
  test("has a pod for every node, meant for that node, and says how many there are", async () => {
    await using cluster = await start(seed, 3);
    await create(cluster);
    await runAll(cluster);

    expect(nodesOf(cluster)).toEqual(["node-0", "node-1", "node-2"]);
    const [pod] = pods(cluster);
    expect(pod?.spec.tolerations).toEqual(
      expect.arrayContaining([
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
        { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
      ]),
    );
    const [revision] = cluster.objects(ControllerRevision);
    const hash = revision?.metadata.labels?.["controller-revision-hash"] ?? "";
    expect(revision?.metadata.name).toBe(`agent-${hash}`);
    expect(pod?.metadata.labels?.["controller-revision-hash"]).toBe(hash);
    // Go clients compare the bytes with their own map, whose keys are sorted.
    expect(JSON.stringify(revision?.data)).toMatch(
      /^\{"spec":\{"template":\{"\$patch":"replace","metadata":/,
    );
    expect(set(cluster).status).toEqual({
      observedGeneration: 1,
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    });
    expect(reasons(cluster)).toEqual(["SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate"]);
  });

  test("follows nodes that come, go, or change", async () => {
    await using cluster = await start(seed, 2);
    await create(cluster, { pod: { nodeSelector: { disk: "ssd" } } });
    await runAll(cluster);
    expect(nodesOf(cluster)).toEqual([]);

    await label(cluster, "node-1", { disk: "ssd" });
    await addNode(cluster, "node-2", { disk: "ssd" });
    await runAll(cluster);
    expect(nodesOf(cluster)).toEqual(["node-1", "node-2"]);
    await label(cluster, "node-1", { disk: "hdd" });
    await runAll(cluster);

    expect(nodesOf(cluster)).toEqual(["node-2"]);
    expect(set(cluster).status).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 });
  });

  test("keeps away from taints that it does not tolerate, and leaves a node only when it is driven out", async () => {
    await using cluster = await start(seed, 3);
    await taint(cluster, "node-0", { key: "gpu", value: "yes", effect: "NoSchedule" });
    await create(cluster);
    await runAll(cluster);
    expect(nodesOf(cluster)).toEqual(["node-1", "node-2"]);

    await taint(cluster, "node-1", { key: "late", effect: "NoSchedule" });
    await taint(cluster, "node-2", { key: "now", effect: "NoExecute" });
    await runAll(cluster);

    expect(nodesOf(cluster)).toEqual(["node-1"]);
    expect(set(cluster).status).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 1 });
  });

  test("does not mind nodes that are not ready or closed to others", async () => {
    await using cluster = await start(seed, 2);
    await taint(cluster, "node-0", { key: "node.kubernetes.io/not-ready", effect: "NoExecute" });
    await taint(cluster, "node-1", { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });

    await create(cluster);
    await runAll(cluster);

    expect(nodesOf(cluster)).toEqual(["node-0", "node-1"]);
  });

  test("moves to a new template with no more nodes without a pod than allowed", async () => {
    await using cluster = await start(seed, 5);
    await create(cluster, { updateStrategy: rolling({ maxUnavailable: 2 }) });
    await runAll(cluster);

    await change(cluster, "agent:2");
    let fewest = 5;
    for (let round = 0; round < 20; round++) {
      await cluster.settle();
      fewest = Math.min(fewest, ready(cluster).length);
      await runOne(cluster);
    }

    expect(fewest).toBe(3);
    expect(images(cluster)).toEqual(Array(5).fill("agent:2"));
    expect(set(cluster).status).toMatchObject({ updatedNumberScheduled: 5, numberAvailable: 5 });
  });

  test("moves to a new template without a node ever being without a pod, if it may have two", async () => {
    await using cluster = await start(seed, 4);
    await create(cluster, { updateStrategy: rolling({ maxSurge: 1, maxUnavailable: 0 }) });
    await runAll(cluster);

    await change(cluster, "agent:2");
    const seen = { fewest: 4, most: 0 };
    for (let round = 0; round < 20; round++) {
      await cluster.settle();
      seen.fewest = Math.min(seen.fewest, new Set(ready(cluster).map(({ spec }) => spec.nodeName)).size);
      seen.most = Math.max(seen.most, pods(cluster).filter(isActive).length);
      await runOne(cluster);
    }

    expect(seen).toEqual({ fewest: 4, most: 5 });
    expect(images(cluster)).toEqual(Array(4).fill("agent:2"));
  });

  test("that may have two leaves nodes where no new pod may come once there are enough elsewhere", async () => {
    await using cluster = await start(seed, 3);
    await create(cluster, { updateStrategy: rolling({ maxSurge: 1, maxUnavailable: 0 }) });
    await runAll(cluster);
    await taint(cluster, "node-0", { key: "late", effect: "NoSchedule" });
    await runAll(cluster);
    expect(nodesOf(cluster)).toEqual(["node-0", "node-1", "node-2"]);

    await change(cluster, "agent:2");
    await runAll(cluster);

    expect(nodesOf(cluster)).toEqual(["node-1", "node-2"]);
    expect(images(cluster)).toEqual(["agent:2", "agent:2"]);
    expect(set(cluster).status).toMatchObject({ desiredNumberScheduled: 2, numberMisscheduled: 0 });
  });

  test("changes pods only when they are deleted, if it is so asked", async () => {
    await using cluster = await start(seed, 2);
    await create(cluster, { updateStrategy: { type: "OnDelete" } });
    await runAll(cluster);

    await change(cluster, "agent:2");
    await runAll(cluster);
    expect(images(cluster)).toEqual(["agent:1", "agent:1"]);
    expect(set(cluster).status.updatedNumberScheduled).toBeUndefined();
    await remove(cluster, pods(cluster)[0] as Pod);
    await runAll(cluster);

    expect(images(cluster).toSorted()).toEqual(["agent:1", "agent:2"]);
  });

  test("makes a failed pod anew after a while that doubles", async () => {
    await using cluster = await start(seed, 1);
    await create(cluster);
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      await runAll(cluster);
      const [pod] = pods(cluster);
      const failedAt = cluster.clock.now();
      await cluster.client(Pod).updateStatus(pod as Pod, ended(failedAt));
      await cluster.until(() => pods(cluster)[0]?.metadata.uid !== pod?.metadata.uid, { within: "1h" });
      pauses.push(Math.round((cluster.clock.now() - failedAt) / 1000));
    }

    expect(pauses).toEqual([1, 2, 4, 8]);
    expect(reasons(cluster)).toContain("FailedDaemonPod");
  });

  test("makes a failed pod anew in time although the clock of its node is ahead", async () => {
    await using cluster = await start(seed, 1);
    await create(cluster);
    for (let round = 0; round < 3; round++) {
      await runAll(cluster);
      const [pod] = pods(cluster);
      await cluster.client(Pod).updateStatus(pod as Pod, ended(cluster.clock.now() + 3_600_000));
      await cluster.until(() => pods(cluster)[0]?.metadata.uid !== pod?.metadata.uid, { within: "10s" });
    }
    await cluster.settle();

    expect(pods(cluster)[0]?.metadata.annotations).toMatchObject({
      "daemonset.setpoint.dev/failures-before": "3",
    });
  });

  test("takes away pods that wait for a node that is gone", async () => {
    await using cluster = await start(seed, 2);
    await create(cluster);
    await cluster.settle();

    await cluster.client(Node).delete({ name: "node-1" });
    await cluster.settle();

    expect(pods(cluster)).toHaveLength(1);
  });

  test("goes back to an earlier template by its history, and forgets what is too old", async () => {
    await using cluster = await start(seed, 1);
    await create(cluster, { revisionHistoryLimit: 1 });
    await runAll(cluster);
    for (const image of ["agent:2", "agent:3", "agent:2"]) {
      await change(cluster, image);
      await runAll(cluster);
    }

    const kept = cluster.objects(ControllerRevision).map(({ revision }) => revision);
    expect(kept.toSorted((left, right) => left - right)).toEqual([3, 4]);
    expect(images(cluster)).toEqual(["agent:2"]);
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed, 3);
    await create(cluster);
    await runAll(cluster);
    const everything = () => [cluster.objects(DaemonSet), cluster.objects(ControllerRevision), pods(cluster)];
    const before = everything();

    await cluster.clock.advance("3h");

    expect(everything()).toEqual(before);
  });

  test("has exactly one pod for each node after its loop was stopped again and again", async () => {
    await using cluster = await start(seed, 30, "none");
    await create(cluster);
    for (let round = 0; round < 4; round++) {
      const loops = cluster.run(builtInLoops(LOOPS));
      const before = pods(cluster).length;
      await cluster.until(() => pods(cluster).length > before || before === 30);
      await loops.stop();
    }
    cluster.run(builtInLoops(LOOPS));
    await runAll(cluster);

    expect(new Set(nodesOf(cluster)).size).toBe(30);
    expect(pods(cluster)).toHaveLength(30);
    expect(cluster.objects(ControllerRevision)).toHaveLength(1);
  });
});

describe("a DaemonSet in a whole cluster", () => {
  test("has its pods put on their nodes, and changes them", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 3 });
    await create(cluster);
    await cluster.settle();
    expect(new Set(nodesOf(cluster)).size).toBe(3);
    expect(set(cluster).status).toMatchObject({ desiredNumberScheduled: 3, numberAvailable: 3 });

    await change(cluster, "agent:2");
    await cluster.settle();

    expect(images(cluster)).toEqual(["agent:2", "agent:2", "agent:2"]);
    expect(new Set(nodesOf(cluster)).size).toBe(3);
  });

  test("takes its pods and its history with it when it is deleted in the foreground", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed: 1, nodes: 2 });
    await create(cluster);
    await cluster.settle();

    await cluster.client(DaemonSet).delete({ name: "agent" }, { propagationPolicy: "Foreground" });
    await cluster.settle();

    const left = [cluster.objects(DaemonSet), cluster.objects(ControllerRevision), pods(cluster)];
    expect(left).toEqual([[], [], []]);
  });
});

async function start(
  seed: number,
  nodes: number,
  loops: readonly string[] | "none" = LOOPS,
): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops });
  for (let at = 0; at < nodes; at++) await addNode(cluster, `node-${String(at)}`);
  return cluster;
}

async function addNode(
  cluster: Cluster,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const node = await cluster.client(Node).create({ metadata: { name, labels } });
  // New nodes are tainted until they are ready.
  await cluster.client(Node).update({ ...node, spec: { ...node.spec, taints: [] } });
}

async function label(
  cluster: Cluster,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await cluster.client(Node).patch({ name }, { type: "merge", changes: { metadata: { labels } } });
}

async function taint(cluster: Cluster, name: string, added: Taint): Promise<void> {
  await cluster.client(Node).patch({ name }, { type: "merge", changes: { spec: { taints: [added] } } });
}

function create(
  cluster: Cluster,
  { pod, ...spec }: Partial<DaemonSetSpec> & { readonly pod?: Partial<PodSpec> } = {},
): Promise<DaemonSet> {
  return cluster.client(DaemonSet).create({
    metadata: { name: "agent" },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: {
        metadata: { labels: { app: "agent" } },
        spec: { containers: [{ name: "agent", image: "agent:1" }], ...pod },
      },
      ...spec,
    },
  });
}

function rolling(rollingUpdate: { readonly maxSurge?: number; readonly maxUnavailable?: number }) {
  return { type: "RollingUpdate", rollingUpdate } as const;
}

async function change(cluster: Cluster, image: string): Promise<void> {
  const changes = { spec: { template: { spec: { containers: [{ name: "agent", image }] } } } };
  await cluster.client(DaemonSet).patch({ name: "agent" }, { type: "strategic", changes });
}

function set(cluster: Cluster): DaemonSet {
  const [found] = cluster.objects(DaemonSet);
  if (found === undefined) throw new Error("the DaemonSet is gone");
  return found;
}

function pods(cluster: Cluster): readonly Pod[] {
  return cluster.objects(Pod, "default");
}

function ready(cluster: Cluster): readonly Pod[] {
  return pods(cluster).filter((pod) => isActive(pod) && isReady(pod));
}

function nodesOf(cluster: Cluster): readonly string[] {
  return pods(cluster)
    .map(({ spec }) => spec.nodeName ?? "")
    .toSorted();
}

function images(cluster: Cluster): readonly string[] {
  return pods(cluster).map(({ spec }) => spec.containers[0]?.image ?? "");
}

function reasons(cluster: Cluster): readonly string[] {
  return cluster
    .objects(Event, "default")
    .flatMap(({ reason, count = 1 }) => Array<string>(count).fill(reason ?? ""));
}

/** Acts as scheduler and agent: binds the pod to its node and makes it ready, or ends it if it is deleted. */
async function run(cluster: Cluster, pod: Pod): Promise<void> {
  const { namespace, name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return await remove(cluster, pod);
  if (pod.spec.nodeName === undefined) {
    const affinity = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const node = affinity?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? "";
    const body = { metadata: { namespace, name }, target: { kind: "Node", name: node } };
    await cluster.client(Pod).subresource("binding").create(pod, body);
  }
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString();
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime }];
  const bound = await cluster.client(Pod).get({ namespace, name });
  await cluster.client(Pod).updateStatus(bound, { phase: "Running", conditions });
}

async function remove(cluster: Cluster, pod: Pod): Promise<void> {
  await cluster.client(Pod).delete(pod, { gracePeriodSeconds: 0 });
}

function waiting(cluster: Cluster): readonly Pod[] {
  return pods(cluster).filter((pod) => pod.metadata.deletionTimestamp !== undefined || !isReady(pod));
}

async function runOne(cluster: Cluster): Promise<void> {
  const [next] = waiting(cluster);
  if (next !== undefined) await run(cluster, next);
}

/** Runs until nothing changes any more. */
async function runAll(cluster: Cluster): Promise<void> {
  for (;;) {
    await cluster.settle();
    const left = waiting(cluster);
    if (left.length === 0) return;
    for (const pod of left) await run(cluster, pod);
  }
}

function ended(now: number): Partial<Pod["status"]> {
  const finishedAt = new Date(now).toISOString();
  const state = { terminated: { exitCode: 1, finishedAt } };
  const container = { name: "agent", image: "", imageID: "", ready: false, restartCount: 0, lastState: {} };
  return { phase: "Failed", containerStatuses: [{ ...container, state }] };
}
