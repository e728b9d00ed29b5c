import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Deployment, ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Event, Pod, ResourceQuota } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { isActive, isReady } from "../../src/resources/pod/pod-state.ts";

const REVISION = "deployment.kubernetes.io/revision";
const LOOPS = ["deployment-controller", "replicaset-controller"];

describe.each([1, 2, 3])("a Deployment, seed %s", (seed) => {
  test("gets a ReplicaSet with its pods, and says how it is", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 3 }));
    await cluster.settle();
    expect(conditions(cluster)).toEqual(["Available=False", "Progressing=True"]);

    await makeAllReady(cluster);

    const [set] = cluster.objects(ReplicaSet);
    const hash = set?.metadata.labels?.["pod-template-hash"] ?? "";
    expect(set?.metadata.name).toBe(`web-${hash}`);
    expect(pods(cluster).every(({ metadata }) => metadata.labels?.["pod-template-hash"] === hash)).toBe(true);
    expect(deployment(cluster).metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("1");
    expect(deployment(cluster).metadata.generation).toBe(1);
    expect(deployment(cluster).status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      conditions: [
        { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
        {
          type: "Progressing",
          status: "True",
          reason: "NewReplicaSetAvailable",
          message: `ReplicaSet "web-${hash}" has successfully progressed.`,
        },
      ],
    });
    expect(events(cluster)).toContain(`Scaled up replica set web-${hash} from 0 to 3`);
  });

  test("changes its template without ever having too few ready pods, or too many in all", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 4, maxSurge: 1, maxUnavailable: 1 }));
    await makeAllReady(cluster);

    await cluster.client(Deployment).patch({ name: "web" }, image("web:2"));
    const bounds = { fewestReady: 4, most: 0 };
    for (let round = 0; round < 20; round++) {
      await cluster.settle();
      const alive = pods(cluster).filter(isActive);
      bounds.fewestReady = Math.min(bounds.fewestReady, alive.filter(isReady).length);
      bounds.most = Math.max(bounds.most, alive.length);
      const next = alive.find((pod) => !isReady(pod));
      if (next !== undefined) await makeReady(cluster, next);
    }

    expect(bounds).toEqual({ fewestReady: 3, most: 5 });
    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2", "web:2"]);
    expect(sizes(cluster)).toEqual([0, 4]);
  });

  test("stops at a template that does not come up, says so after the deadline, and is healed by going back", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 4 }));
    await makeAllReady(cluster);

    await cluster.client(Deployment).patch({ name: "web" }, image("web:bad"));
    await cluster.settle();
    await cluster.clock.advance("11m");
    expect(conditions(cluster)).toEqual(["Available=True", "Progressing=False"]);
    expect(deployment(cluster).status.conditions?.at(-1)?.reason).toBe("ProgressDeadlineExceeded");
    expect(pods(cluster).filter((pod) => isActive(pod) && isReady(pod)).length).toBeGreaterThanOrEqual(3);

    await cluster.client(Deployment).patch({ name: "web" }, image("web:1"));
    await makeAllReady(cluster);

    expect(conditions(cluster)).toEqual(["Available=True", "Progressing=True"]);
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:1", "web:1"]);
    expect(deployment(cluster).metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
    const [first] = cluster.objects(ReplicaSet).filter(({ spec }) => spec.replicas === 4);
    expect(first?.metadata.annotations?.["deployment.kubernetes.io/revision-history"]).toBe("1");
  });

  test("reports a stalled rollout without a time of its last progress", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 1 }));
    await cluster.settle();
    const { status, ...shown } = deployment(cluster);
    const timeless = (status.conditions ?? []).map(({ lastUpdateTime: _time, ...condition }) => condition);

    await cluster.client(Deployment).updateStatus({ ...shown, status }, { ...status, conditions: timeless });
    await cluster.settle();

    const progress = deployment(cluster).status.conditions?.find(({ type }) => type === "Progressing");
    expect(progress?.reason).toBe("ProgressDeadlineExceeded");
  });

  test("that replaces its pods at once has no new one before the last old one is gone", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 3, type: "Recreate" }));
    await makeAllReady(cluster);
    for (const pod of pods(cluster)) await hold(cluster, pod);

    await cluster.client(Deployment).patch({ name: "web" }, image("web:2"));
    await cluster.settle();
    expect(images(cluster)).toEqual(["web:1", "web:1", "web:1"]);
    for (const pod of pods(cluster)) await removeFinalizers(cluster, pod);
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("that is to replace its pods at once from now on ends a rollout that is under way, whatever its size", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 4, maxSurge: 1, maxUnavailable: 1 }));
    await makeAllReady(cluster);
    await cluster.client(Deployment).patch({ name: "web" }, image("web:bad"));
    await cluster.settle();

    const strategy = { type: "Recreate", rollingUpdate: null };
    const changes = { spec: { replicas: 3, strategy } };
    await cluster.client(Deployment).patch({ name: "web" }, { type: "merge", changes });
    await cluster.client(Deployment).patch({ name: "web" }, image("web:2"));
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("spreads a new size over both templates of a rollout that is under way", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 10, maxSurge: 3, maxUnavailable: 2 }));
    await makeAllReady(cluster);
    await cluster.client(Deployment).patch({ name: "web" }, image("web:bad"));
    await cluster.settle();
    expect(sizes(cluster)).toEqual([8, 5]);

    await cluster.client(Deployment).scale({ name: "web" }, 15);
    await cluster.settle();

    expect(sizes(cluster)).toEqual([11, 7]);
  });

  test("moves nothing while it is paused, and goes on when it is resumed", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 2 }));
    await makeAllReady(cluster);
    const paused = (value: boolean) => ({ type: "merge", changes: { spec: { paused: value } } }) as const;

    await cluster.client(Deployment).patch({ name: "web" }, paused(true));
    await cluster.client(Deployment).patch({ name: "web" }, image("web:2"));
    await cluster.settle();
    expect(cluster.objects(ReplicaSet)).toHaveLength(1);
    await cluster.client(Deployment).patch({ name: "web" }, paused(false));
    await makeAllReady(cluster);

    expect(images(cluster)).toEqual(["web:2", "web:2"]);
  });

  test("whose ReplicaSet is refused says so, and goes on when there is room", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: [...LOOPS, "resourcequota-controller"],
    });
    const quota = (sets: string) => ({ spec: { hard: { "count/replicasets.apps": sets } } });
    await cluster.client(ResourceQuota).create({ metadata: { name: "few" }, ...quota("0") });
    await cluster.settle();
    await cluster.client(Deployment).create(web({ replicas: 1 }));
    await cluster.clock.advance("5s");

    const progress = deployment(cluster).status.conditions?.find(({ type }) => type === "Progressing");
    expect(progress).toMatchObject({ status: "False", reason: "ReplicaSetCreateError" });
    const refusal = /^Failed to create new replica set "web-[a-z0-9]+": .*exceeded quota: few/;
    expect(progress?.message).toMatch(refusal);
    const told = cluster.objects(Event).find(({ reason }) => reason === "ReplicaSetCreateError");
    expect(told).toMatchObject({ type: "Warning", message: progress?.message });

    await cluster.client(ResourceQuota).patch({ name: "few" }, { type: "merge", changes: quota("9") });
    await cluster.clock.advance("20m");
    await makeAllReady(cluster);
    expect(conditions(cluster)).toEqual(["Available=True", "Progressing=True"]);
  });

  test.each([
    ["3546343826724305832", "3546343826724305833"],
    ["9223372036854775806", "9223372036854775806"],
  ])("counts revisions on from a set that it adopts, however large their numbers: %s", async (...row) => {
    const [known, next] = row;
    await using cluster = await start(seed);
    const annotations = { "deployment.kubernetes.io/revision": known };
    const labels = { app: "web" };
    const old = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:0" }] } };
    await cluster.client(ReplicaSet).create({
      metadata: { name: "old", labels, annotations },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: old },
    });
    await cluster.client(Deployment).create(web({ replicas: 1 }));
    await makeAllReady(cluster);

    expect(deployment(cluster).metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe(next);
    const histories = cluster.objects(ReplicaSet).map(({ metadata }) => metadata.annotations ?? {});
    expect(histories.every((each) => !("deployment.kubernetes.io/revision-history" in each))).toBe(true);
  });

  test("goes back to an earlier template when an annotation asks for its revision, once", async () => {
    await using cluster = await start(seed);
    const { metadata, ...rest } = web({ replicas: 1 });
    const created = { ...metadata, annotations: { note: "first", only: "first" } };
    await cluster.client(Deployment).create({ ...rest, metadata: created });
    await makeAllReady(cluster);
    const containers = [{ name: "web", image: "web:2" }];
    const changes = {
      metadata: { annotations: { note: "second", only: null } },
      spec: { template: { spec: { containers } } },
    };
    await cluster.client(Deployment).patch({ name: "web" }, { type: "strategic", changes });
    await makeAllReady(cluster);

    const ask = async (revision: string): Promise<readonly unknown[]> => {
      await note(cluster, { "deprecated.deployment.rollback.to": revision });
      await makeAllReady(cluster);
      const [{ spec, metadata: shown }] = cluster.objects(Deployment) as [Deployment];
      return [spec.template.spec.containers[0]?.image, shown.annotations];
    };

    expect(await ask("7")).toEqual(["web:2", { [REVISION]: "2", note: "second" }]);
    expect(await ask("2")).toEqual(["web:2", { [REVISION]: "2", note: "second" }]);
    expect(await ask("1")).toEqual(["web:1", { [REVISION]: "3", note: "first", only: "first" }]);
    expect(await ask("0")).toEqual(["web:2", { [REVISION]: "4", note: "second" }]);
    const reasons = cluster.objects(Event).map(({ reason }) => reason);
    expect(reasons).toEqual(
      expect.arrayContaining([
        "DeploymentRollbackRevisionNotFound",
        "DeploymentRollbackTemplateUnchanged",
        "DeploymentRollback",
      ]),
    );
  });

  test("forgets what lies further back than its history reaches while it is paused, whatever else is wrong", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 1 }));
    await makeAllReady(cluster);
    for (const version of [2, 3]) {
      await cluster.client(Deployment).patch({ name: "web" }, image(`web:${String(version)}`));
      await makeAllReady(cluster);
    }
    await cluster.client(Deployment).patch({ name: "web" }, image("web:broken"));
    await cluster.settle();

    const changes = { spec: { paused: true, revisionHistoryLimit: 1 } };
    await cluster.client(Deployment).patch({ name: "web" }, { type: "merge", changes });
    await cluster.settle();

    const kept = cluster.objects(ReplicaSet).map(({ spec }) => spec.template.spec.containers[0]?.image ?? "");
    expect(new Set(kept)).toEqual(new Set(["web:3", "web:broken"]));
  });

  test("forgets what lies further back than its history reaches", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 1, revisionHistoryLimit: 2 }));
    await makeAllReady(cluster);

    for (const version of [2, 3, 4, 5]) {
      await cluster.client(Deployment).patch({ name: "web" }, image(`web:${String(version)}`));
      await makeAllReady(cluster);
    }

    const kept = cluster.objects(ReplicaSet).map(({ spec }) => spec.template.spec.containers[0]?.image ?? "");
    expect(new Set(kept)).toEqual(new Set(["web:3", "web:4", "web:5"]));
  });

  test("is not touched any more once everything is as it should be", async () => {
    await using cluster = await start(seed);
    await cluster.client(Deployment).create(web({ replicas: 2 }));
    await makeAllReady(cluster);
    const before = [cluster.objects(Deployment), cluster.objects(ReplicaSet)];

    await cluster.clock.advance("3h");

    expect([cluster.objects(Deployment), cluster.objects(ReplicaSet)]).toEqual(before);
  });
});

function start(seed: number): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: LOOPS });
}

interface WebOptions {
  readonly replicas: number;
  readonly type?: "Recreate" | "RollingUpdate";
  readonly maxSurge?: number;
  readonly maxUnavailable?: number;
  readonly revisionHistoryLimit?: number;
}

function web({
  replicas,
  type = "RollingUpdate",
  revisionHistoryLimit,
  ...bounds
}: WebOptions): Manifest<Deployment> {
  return {
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      strategy: { type, ...(type === "RollingUpdate" && { rollingUpdate: bounds }) },
      ...(revisionHistoryLimit !== undefined && { revisionHistoryLimit }),
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web:1" }] },
      },
    },
  };
}

function image(name: string) {
  const containers = [{ name: "web", image: name }];
  return { type: "strategic", changes: { spec: { template: { spec: { containers } } } } } as const;
}

function deployment(cluster: Cluster): Deployment {
  const [found] = cluster.objects(Deployment);
  if (found === undefined) throw new Error("the Deployment is gone");
  return found;
}

function pods(cluster: Cluster): readonly Pod[] {
  return cluster.objects(Pod, "default");
}

function images(cluster: Cluster): readonly (string | undefined)[] {
  return pods(cluster).map(({ spec }) => spec.containers[0]?.image);
}

function conditions(cluster: Cluster): readonly string[] {
  const shown = (deployment(cluster).status.conditions ?? []).map(({ type, status }) => `${type}=${status}`);
  return shown.toSorted((left, right) => (left < right ? -1 : 1));
}

function events(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Event, "default").map(({ message }) => message);
}

/** Sizes of the replica sets, the older template first. */
function sizes(cluster: Cluster): readonly (number | undefined)[] {
  const revision = ({ metadata }: ReplicaSet): number =>
    Number(metadata.annotations?.["deployment.kubernetes.io/revision"]);
  const sets = cluster.objects(ReplicaSet).toSorted((left, right) => revision(left) - revision(right));
  return sets.map(({ spec }) => spec.replicas);
}

async function note(cluster: Cluster, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  const changes = { metadata: { annotations } };
  await cluster.client(Deployment).patch({ name: "web" }, { type: "merge", changes });
}

async function makeReady(cluster: Cluster, pod: Pod): Promise<void> {
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString();
  const conditionList = [{ type: "Ready", status: "True", lastTransitionTime }];
  await cluster.client(Pod).updateStatus(pod, { phase: "Running", conditions: conditionList });
}

/** Runs until nothing changes any more. */
async function makeAllReady(cluster: Cluster): Promise<void> {
  for (;;) {
    await cluster.settle();
    const waiting = pods(cluster).filter((pod) => isActive(pod) && !isReady(pod));
    if (waiting.length === 0) return;
    for (const pod of waiting) await makeReady(cluster, pod);
  }
}

/** Keeps a deleted pod by a finalizer. */
async function hold(cluster: Cluster, { metadata: { name } }: Pod): Promise<void> {
  const changes = { metadata: { finalizers: ["example.com/held"] } };
  await cluster.client(Pod).patch({ name }, { type: "merge", changes });
}

async function removeFinalizers(cluster: Cluster, { metadata: { name } }: Pod): Promise<void> {
  await cluster.client(Pod).patch({ name }, { type: "merge", changes: { metadata: { finalizers: [] } } });
}
