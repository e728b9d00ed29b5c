/** Two instances of the controllers, or of the scheduler, of which one leads: the leader dies, the other takes over, and nothing is done twice. */
import { describe, expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Lease } from "../../src/api/generated/types/coordination-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster, RunningLoops } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInGroups } from "../../src/cluster/loops/loops.ts";
import type { BuiltInComponent } from "../../src/cluster/loops/loops.ts";

const SEEDS = [1, 2, 3, 4, 5];
const LABELS = { app: "demo" };
/** Duration of a lease, and the longest time after it until a candidate tries again. */
const TAKEOVER_MS = 15_000 + 2400;

describe.each(SEEDS)("two instances, seed %s", (seed) => {
  test("one that is killed after pod 1 of 3 is replaced within the lease, and exactly 3 pods are ever made", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    const [leader] = await runTwo(cluster, "controllers");
    const before = await cluster.client(Pod).list();
    await cluster.client(Deployment).create(deployment());

    await cluster.until(() => cluster.objects(Pod).length === 1);
    leader.kill();
    const killedAt = cluster.clock.now();
    await cluster.until(() => cluster.objects(Pod).length === 3, { within: "1m" });
    const tookMs = cluster.clock.now() - killedAt;
    const made = await countMade(cluster, before.metadata.resourceVersion);
    const pods = uids(cluster);
    await cluster.clock.advance("5m");

    expect(tookMs).toBeLessThanOrEqual(TAKEOVER_MS + 1000);
    expect(made).toBe(3);
    expect(uids(cluster)).toEqual(pods);
    expect(leaseOf(cluster, "kube-controller-manager")?.spec.leaseTransitions).toBe(1);
  });

  test("one that ends by itself gives its lease back, and the other does not wait for it", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none" });
    const [leader] = await runTwo(cluster, "controllers");

    await leader.stop();
    const stoppedAt = cluster.clock.now();
    await cluster.client(Deployment).create(deployment());
    await cluster.until(() => cluster.objects(Pod).length === 3, { within: "1m" });

    expect(cluster.clock.now() - stoppedAt).toBeLessThanOrEqual(2400 + 1000);
  });

  test("a scheduler that is killed leaves no pod behind and binds none twice", async () => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none", nodes: 3 });
    cluster.run(builtInGroups("all").controllers, "controllers");
    const [leader] = await runTwo(cluster, "scheduler");
    await cluster.client(Deployment).create(deployment());

    const isBound = ({ spec }: Pod): boolean => spec.nodeName !== undefined;
    await cluster.until(() => cluster.objects(Pod).some(isBound), { within: "1m" });
    leader.kill();
    await cluster.until(() => cluster.objects(Pod).filter(isBound).length === 3, { within: "1m" });
    await cluster.clock.advance("1m");

    expect(cluster.objects(Pod).map(({ status }) => status?.phase)).toEqual([
      "Running",
      "Running",
      "Running",
    ]);
    expect(leaseOf(cluster, "kube-scheduler")?.spec.leaseTransitions).toBe(1);
  });
});

/** The first instance leads. */
async function runTwo(
  cluster: Cluster,
  part: BuiltInComponent,
): Promise<readonly [RunningLoops, RunningLoops]> {
  const group = builtInGroups("all")[part];
  const leader = cluster.run(group, "a");
  await cluster.until(() => leaseOf(cluster, group.lease.name)?.spec.holderIdentity !== undefined);
  const other = cluster.run(group, "b");
  await cluster.clock.advance("5s");
  return [leader, other];
}

function uids(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects(Pod, "default").map(({ metadata }) => metadata.uid);
}

function leaseOf(cluster: Cluster, name: string): Lease | undefined {
  return cluster.objects(Lease, "kube-system").find(({ metadata }) => metadata.name === name);
}

/** Number of pods created since a list, counted by a watch that is known to be complete. */
async function countMade(cluster: Cluster, resourceVersion: string): Promise<number> {
  const containers = [{ name: "c", image: "i" }];
  await cluster
    .client(Pod)
    .create({ metadata: { name: "last", namespace: "kube-public" }, spec: { containers } });
  let count = 0;
  for await (const events of await cluster.client(Pod).watch({ resourceVersion })) {
    for (const event of events) {
      if (event.type !== "ADDED") continue;
      if (event.object.metadata.name === "last") return count;
      count++;
    }
  }
  throw new Error("the watch ended before it had seen everything");
}

function deployment() {
  const spec = { containers: [{ name: "c", image: "nginx:1.25" }] };
  return {
    metadata: { name: "demo", namespace: "default" },
    spec: {
      replicas: 3,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec },
    },
  };
}
