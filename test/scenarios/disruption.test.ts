import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { isApiError } from "../../src/api/errors/api-error.ts";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Event, Pod } from "../../src/api/generated/types/core-v1.ts";
import type { PodCondition } from "../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../src/api/generated/types/policy-v1.ts";
import { timeText } from "../../src/api/values/time.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

const LOOPS = ["disruption-controller", "replicaset-controller"];
const SELECTOR = { matchLabels: { app: "web" } };

describe.each([1, 2])("a PodDisruptionBudget, seed %s", (seed) => {
  test("allows as many evictions as pods can be spared", async () => {
    await using cluster = await start(seed, { minAvailable: 2 });

    expect(budget(cluster).status).toMatchObject({
      expectedPods: 3,
      desiredHealthy: 2,
      currentHealthy: 3,
      disruptionsAllowed: 1,
      observedGeneration: 1,
      conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }],
    });
  });

  test("is told of at pods that have several, each time such a pod changes", async () => {
    await using cluster = await start(seed, { minAvailable: 2 });
    const spec = { selector: SELECTOR, minAvailable: 1 };
    const { name } = budget(cluster).metadata;
    await cluster.client(PodDisruptionBudget).create({ metadata: { name: "zzz" }, spec });
    const shared = (): readonly (readonly [string | undefined, number | undefined])[] =>
      cluster
        .objects(Event, "default")
        .filter(({ reason }) => reason === "MultiplePodDisruptionBudgets")
        .map(({ message, count }) => [message, count]);
    const pods = cluster.objects(Pod, "default").map(({ metadata }) => metadata.name);
    const text = (pod: string): string =>
      `Pod "default"/"${pod}" matches multiple PodDisruptionBudgets.  Chose "${name}" arbitrarily.`;
    for (const times of [1, 2]) {
      const changes = { metadata: { annotations: { times: String(times) } } };
      await cluster.client(Pod).patch({ name: pods[0] ?? "" }, { type: "merge", changes });
      await cluster.settle();
      expect(shared()).toContainEqual([text(pods[0] ?? ""), times]);
    }
  });

  test.each([
    [{ minAvailable: "50%" }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: 1 }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: "34%" }, { desiredHealthy: 1, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 0 }, { desiredHealthy: 3, disruptionsAllowed: 0 }],
  ])("of %j counts by what the controller of the pods wants", async (spec, expected) => {
    await using cluster = await start(seed, spec);

    expect(budget(cluster).status).toMatchObject(expected);
  });

  test("grants one eviction, refuses the next, and grants again when the pod is replaced", async () => {
    await using cluster = await start(seed, { minAvailable: 2 });
    const [first, second] = cluster.objects(Pod, "default");

    await evict(cluster, first as Pod);
    await expect(evict(cluster, second as Pod)).rejects.toSatisfy((error) =>
      isApiError(error, "TooManyRequests"),
    );
    await cluster.settle();
    await makeAllReady(cluster);

    expect(budget(cluster).status).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    await evict(cluster, second as Pod);
  });

  test.each([
    [{ maxUnavailable: 1 }, { desiredHealthy: 2, disruptionsAllowed: 2 }],
    [{ minAvailable: "100%" }, { desiredHealthy: 3, disruptionsAllowed: 1 }],
  ])("of %j does not expect pods that nobody controls, but counts and tells them", async (spec, expected) => {
    await using cluster = await start(seed, spec);
    await createPod(cluster, { name: "bare" });
    await makeAllReady(cluster);

    expect(budget(cluster).status).toMatchObject({ ...expected, expectedPods: 3, currentHealthy: 4 });
    expect(reasons(cluster)).toContain("UnmanagedPods");
  });

  test("counts a pod again whose eviction was granted and did not come, and tells it", async () => {
    await using cluster = await start(seed, { minAvailable: 2 });
    const [pod] = cluster.objects(Pod, "default") as [Pod];
    const now = timeText(cluster.clock.now());
    const changes = { status: { disruptedPods: { [pod.metadata.name]: now } } };
    await cluster
      .client(PodDisruptionBudget)
      .patch(budget(cluster).metadata, { type: "merge", changes }, { subresource: "status" });

    await cluster.clock.advance("1m");
    expect(budget(cluster).status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
    await cluster.clock.advance("2m");

    expect(budget(cluster).status).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    expect(budget(cluster).status.disruptedPods).toBeUndefined();
    expect(reasons(cluster).filter((reason) => reason === "NotDeleted")).toHaveLength(1);
  });

  test("of pods without a controller allows nothing", async () => {
    await using cluster = await start(seed, { maxUnavailable: 1 }, 0);
    await createPod(cluster, { name: "bare" });
    await makeAllReady(cluster);

    expect(budget(cluster).status).toMatchObject({
      expectedPods: 0,
      currentHealthy: 1,
      disruptionsAllowed: 0,
      conditions: [{ status: "False", reason: "InsufficientPods" }],
    });
  });

  test.each([
    ["batch/v1", "Job", "jobs.batch does not implement the scale subresource"],
    ["apps/v1", "ReplicaSet", 'found no controllers for pod "stray"'],
    ["apps/v1", "Deployment", 'found no controllers for pod "stray"'],
    ["example.com/v1", "Thing", 'no matches for kind "Thing" in version "example.com/v1"'],
  ])(
    "that cannot know how many pods a %s %s wants says so, and allows nothing",
    async (apiVersion, kind, message) => {
      await using cluster = await start(seed, { maxUnavailable: 1 });
      const owner = { apiVersion, kind, name: "gone", uid: "4d2f6f6e-1111-4222-8333-444455556666" };
      await createPod(cluster, {
        name: "stray",
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: false }],
      });
      await cluster.settle();

      const { disruptionsAllowed, conditions } = budget(cluster).status;
      expect(disruptionsAllowed).toBe(0);
      expect(conditions).toMatchObject([{ status: "False", reason: "SyncFailed", message }]);
      expect(reasons(cluster)).toContain("CalculateExpectedPodCountFailed");
    },
  );

  test("that could not be judged is not observed", async () => {
    await using cluster = await start(seed, { minAvailable: 1 });
    const owner = {
      apiVersion: "batch/v1",
      kind: "Job",
      name: "gone",
      uid: "4d2f6f6e-1111-4222-8333-444455556666",
    };
    await createPod(cluster, { name: "stray", ownerReferences: [{ ...owner, controller: true }] });
    await cluster.settle();

    const { metadata } = budget(cluster);
    const changes = { spec: { minAvailable: "50%" } };
    await cluster.client(PodDisruptionBudget).patch(metadata, { type: "merge", changes });
    await cluster.settle();

    expect(budget(cluster).metadata.generation).toBe(2);
    expect(budget(cluster).status).toMatchObject({ observedGeneration: 1, disruptionsAllowed: 0 });
  });
});

describe.each([1, 2])("a pod that was told of its end, seed %s", (seed) => {
  test("is told otherwise when it still lives two minutes later", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: ["stale-disruption-controller"],
    });
    await createPod(cluster, { name: "web" });
    await tell(cluster, { reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" });

    await cluster.clock.advance("119s");
    expect(target(cluster)).toMatchObject({ status: "True" });
    await cluster.clock.advance("2s");

    const { lastTransitionTime, ...rest } = target(cluster) ?? {};
    expect(rest).toEqual({ type: "DisruptionTarget", status: "False" });
    expect(Date.parse(lastTransitionTime ?? "")).toBeGreaterThan(cluster.clock.now() - 2000);
  });

  test.each([
    ["by its node", { reason: "TerminationByKubelet" }, "Running"],
    ["and has ended", { reason: "EvictionByEvictionAPI" }, "Failed"],
  ])("%s is not told otherwise", async (_, condition, phase) => {
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: ["stale-disruption-controller"],
    });
    await createPod(cluster, { name: "web" });
    await tell(cluster, condition, phase);

    await cluster.clock.advance("10m");

    expect(target(cluster)).toMatchObject({ status: "True", ...condition });
  });
});

async function tell(cluster: Cluster, condition: object, phase = "Running"): Promise<void> {
  const lastTransitionTime = timeText(cluster.clock.now());
  const conditions = [{ type: "DisruptionTarget", status: "True", lastTransitionTime, ...condition }];
  const changes = { status: { phase, conditions } };
  await cluster
    .client(Pod)
    .patch({ namespace: "default", name: "web" }, { type: "strategic", changes }, { subresource: "status" });
}

function target(cluster: Cluster): PodCondition | undefined {
  const [pod] = cluster.objects(Pod, "default");
  return pod?.status.conditions?.find(({ type }) => type === "DisruptionTarget");
}

async function start(seed: number, spec: object, replicas = 3): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
  await cluster.client(ReplicaSet).create({
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: SET_LABELS },
      template: { metadata: { labels: SET_LABELS }, spec: { containers: [{ name: "c", image: "c" }] } },
    },
  });
  await cluster
    .client(PodDisruptionBudget)
    .create({ metadata: { name: "web" }, spec: { selector: SELECTOR, ...spec } });
  await makeAllReady(cluster);
  return cluster;
}

/** More than the budget selects, so that it can cover pods that the set does not adopt. */
const SET_LABELS = { ...SELECTOR.matchLabels, of: "set" };

function budget(cluster: Cluster): PodDisruptionBudget {
  const found = cluster.objects(PodDisruptionBudget).find(({ metadata }) => metadata.name === "web");
  if (found === undefined) throw new Error("the budget is gone");
  return found;
}

async function createPod(cluster: Cluster, metadata: Manifest<Pod>["metadata"]): Promise<void> {
  await cluster.client(Pod).create({
    metadata: { ...metadata, labels: SELECTOR.matchLabels },
    spec: { containers: [{ name: "c", image: "c" }] },
  });
}

function reasons(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event).map(({ reason }) => reason);
}

async function evict(cluster: Cluster, { metadata: { name } }: Pod): Promise<void> {
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
  await cluster.client(Pod).subresource("eviction").create({ name }, body);
}

async function makeAllReady(cluster: Cluster): Promise<void> {
  await cluster.settle();
  for (const pod of cluster.objects(Pod, "default")) {
    const conditions = [{ type: "Ready", status: "True" }];
    await cluster.client(Pod).updateStatus(pod, { phase: "Running", conditions });
  }
  await cluster.settle();
}
