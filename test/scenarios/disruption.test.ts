import { describe, expect, test } from "vitest";
import { isApiError } from "../../src/api/api-error.ts";
import { ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../src/api/generated/types/policy-v1.ts";
import { startCluster } from "../../src/cluster/start-cluster.ts";
import type { Cluster } from "../../src/cluster/start-cluster.ts";

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

  test("that cannot know how many pods there should be says so, and allows nothing", async () => {
    await using cluster = await start(seed, { maxUnavailable: 1 });
    await cluster.client(Pod).create({
      metadata: { name: "bare", labels: { bare: "yes" } },
      spec: { containers: [{ name: "c", image: "c" }] },
    });
    await cluster.client(PodDisruptionBudget).create({
      metadata: { name: "bare" },
      spec: { maxUnavailable: 1, selector: { matchLabels: { bare: "yes" } } },
    });
    await cluster.settle();

    const bare = cluster.objects(PodDisruptionBudget).find(({ metadata }) => metadata.name === "bare");
    expect(bare?.status.disruptionsAllowed).toBe(0);
    expect(bare?.status.conditions).toMatchObject([{ status: "False", reason: "SyncFailed" }]);
  });
});

async function start(seed: number, spec: object): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops: LOOPS });
  await cluster.client(ReplicaSet).create({
    metadata: { name: "web" },
    spec: {
      replicas: 3,
      selector: SELECTOR,
      template: { metadata: SELECTOR_LABELS, spec: { containers: [{ name: "c", image: "c" }] } },
    },
  });
  await cluster
    .client(PodDisruptionBudget)
    .create({ metadata: { name: "web" }, spec: { selector: SELECTOR, ...spec } });
  await makeAllReady(cluster);
  return cluster;
}

const SELECTOR_LABELS = { labels: SELECTOR.matchLabels };

function budget(cluster: Cluster): PodDisruptionBudget {
  const found = cluster.objects(PodDisruptionBudget).find(({ metadata }) => metadata.name === "web");
  if (found === undefined) throw new Error("the budget is gone");
  return found;
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
