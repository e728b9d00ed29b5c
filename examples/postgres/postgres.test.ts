import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { isApiError } from "setpoint/api";
import { CronJob, ConfigMap, Job, Secret, Service, StatefulSet } from "setpoint/resources";
import { findCondition } from "setpoint/runtime";
import { describe, expect, test } from "vitest";
import { PostgresCluster } from "./kind.ts";
import { postgresOperator } from "./operator.ts";

const SPEC = { instances: 3, backup: { schedule: "0 3 * * *" } };

describe.each([1, 2, 3])("a PostgresCluster, seed %s", (seed) => {
  test("is made of what PostgreSQL needs, and says when it is ready", async () => {
    await using cluster = await start(seed);
    expect(names(cluster)).toEqual({
      sets: ["main"],
      services: ["main", "main-pods", "main-replicas"],
      others: ["main-config", "main-credentials", "main-backup"],
    });
    expect(ready(cluster)).toMatchObject({ status: "False", message: "0 of 3 instances are ready" });

    await makeReady(cluster, 3);

    expect(ready(cluster)).toMatchObject({ status: "True", reason: "AllInstancesReady" });
    expect(postgres(cluster).status).toMatchObject({ instances: 3, ready: 3, observedGeneration: 1 });
  });

  test("is scaled through its own scale subresource", async () => {
    await using cluster = await start(seed);

    await cluster.client(PostgresCluster).scale({ name: "main" }, 5);
    await cluster.settle();

    expect(cluster.objects(StatefulSet)[0]?.spec.replicas).toBe(5);
  });

  test("keeps its password until a new one is asked for, and then starts its pods anew", async () => {
    await using cluster = await start(seed);
    const first = password(cluster);
    await cluster.clock.advance("24h");
    expect(password(cluster)).toBe(first);
    const template = templateOf(cluster);

    await change(cluster, { credentialsRevision: 2 });

    expect(password(cluster)).not.toBe(first);
    expect(templateOf(cluster)).not.toEqual(template);
  });

  test("recreates a deleted child and repairs an edited one", async () => {
    await using cluster = await start(seed);

    await cluster.client(Service).delete({ name: "main-replicas" });
    const edited = { data: { "postgresql.conf": "fsync = off" } };
    await cluster.client(ConfigMap).patch({ name: "main-config" }, { type: "merge", changes: edited });
    await cluster.settle();

    expect(names(cluster).services).toContain("main-replicas");
    const config = await cluster.client(ConfigMap).get({ name: "main-config" });
    expect(config.data?.["postgresql.conf"]).toBe("max_connections = '50'\n");
  });

  test("has no backups any more when none are asked for", async () => {
    await using cluster = await start(seed);

    await change(cluster, { backup: null });

    expect(cluster.objects(CronJob)).toEqual([]);
  });

  test("is whole after its operator was killed half-way", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: "none",
      kinds: [PostgresCluster],
    });
    const first = cluster.run({ controllers: [postgresOperator] });
    await create(cluster);
    await cluster.until(() => cluster.objects(ConfigMap, "default").length > 0);
    await first.stop();

    cluster.run({ controllers: [postgresOperator] });
    await cluster.settle();

    expect(names(cluster)).toMatchObject({
      sets: ["main"],
      services: ["main", "main-pods", "main-replicas"],
    });
  });

  test("goes only when its last backup is done", async () => {
    await using cluster = await start(seed);
    await cluster.client(PostgresCluster).delete({ name: "main" });
    await cluster.settle();
    expect(cluster.objects(PostgresCluster)).toHaveLength(1);
    const [job] = cluster.objects(Job);
    expect(job?.metadata.name).toBe("main-last-backup");

    const times = { startTime: "2026-01-01T00:00:00Z", completionTime: "2026-01-01T00:00:01Z" };
    const met = { type: "SuccessCriteriaMet", status: "True", reason: "CompletionsReached" } as const;
    const complete = { type: "Complete", status: "True", reason: "CompletionsReached" } as const;
    await cluster
      .client(Job)
      .updateStatus(job as Job, { ...times, succeeded: 1, conditions: [met, complete] });
    await cluster.clock.advance("1m");

    expect(cluster.objects(PostgresCluster)).toEqual([]);
  });

  test("writes nothing once all is well", async () => {
    await using cluster = await start(seed);
    await makeReady(cluster, 3);
    const before = everything(cluster);

    await cluster.clock.advance("24h");

    expect(everything(cluster)).toEqual(before);
  });

  test("is refused with an absurd size", async () => {
    await using cluster = await start(seed);

    const creating = cluster
      .client(PostgresCluster)
      .create({ metadata: { name: "huge" }, spec: { instances: 1000 } });

    await expect(creating).rejects.toSatisfy((error) => isApiError(error, "Invalid"));
  });
});

async function start(seed: number): Promise<Cluster> {
  const cluster = await startCluster({
    clock: "virtual",
    seed,
    loops: "none",
    kinds: [PostgresCluster],
    controllers: [postgresOperator],
  });
  await create(cluster);
  await cluster.settle();
  return cluster;
}

async function create(cluster: Cluster): Promise<void> {
  const spec = { ...SPEC, parameters: { max_connections: "50" } };
  await cluster.client(PostgresCluster).create({ metadata: { name: "main" }, spec });
}

async function change(cluster: Cluster, spec: object): Promise<void> {
  await cluster.client(PostgresCluster).patch({ name: "main" }, { type: "merge", changes: { spec } });
  await cluster.settle();
}

async function makeReady(cluster: Cluster, count: number): Promise<void> {
  const set = await cluster.client(StatefulSet).get({ name: "main" });
  await cluster.client(StatefulSet).updateStatus(set, { replicas: count, readyReplicas: count });
  await cluster.settle();
}

function postgres(cluster: Cluster): PostgresCluster {
  const [found] = cluster.objects(PostgresCluster);
  if (found === undefined) throw new Error("the PostgresCluster is gone");
  return found;
}

function ready(cluster: Cluster) {
  return findCondition(postgres(cluster).status?.conditions, "Ready");
}

function names(cluster: Cluster) {
  const isOurs = ({ metadata }: { readonly metadata: { readonly name: string } }): boolean =>
    metadata.name.startsWith("main");
  const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }): string => metadata.name;
  return {
    sets: cluster.objects(StatefulSet).map(nameOf),
    services: cluster.objects(Service, "default").filter(isOurs).map(nameOf),
    others: [
      ...cluster.objects(ConfigMap, "default").filter(isOurs).map(nameOf),
      ...cluster.objects(Secret, "default").filter(isOurs).map(nameOf),
      ...cluster.objects(CronJob, "default").map(nameOf),
    ],
  };
}

function password(cluster: Cluster): string | undefined {
  return cluster.objects(Secret, "default").find(({ metadata }) => metadata.name === "main-credentials")
    ?.data?.["password"];
}

function templateOf(cluster: Cluster) {
  return cluster.objects(StatefulSet)[0]?.spec.template;
}

function everything(cluster: Cluster) {
  const kinds = [PostgresCluster, StatefulSet, Service, ConfigMap, Secret, CronJob] as const;
  return kinds.map((kind) => cluster.objects<PostgresCluster | StatefulSet>(kind as typeof StatefulSet));
}
