import { describe, expect, test } from "vitest";
import type { ApiObject, Manifest, ResourceType } from "../../src/api/api-object.ts";
import { CustomResourceDefinition } from "../../src/api/generated/types/apiextensions-v1.ts";
import { Deployment, ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Event, Namespace, Pod, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../src/api/generated/types/meta-v1.ts";
import { ClusterRole } from "../../src/api/generated/types/rbac-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { garbageCollectorRoutine } from "../../src/controllers/garbage-collector/routine.ts";
import { defineController } from "../../src/runtime/controller/controller.ts";

const COLLECTOR = "garbage-collector-controller";
const SEEDS = [1, 2, 3];

describe.each(SEEDS)("deletion of owners, seed %s", (seed) => {
  test("in the background the owner goes at once, its dependents and theirs after it", async () => {
    await using cluster = await start(seed);
    const top = await create(cluster, "top");
    const middle = await create(cluster, "middle", [refTo(top)]);
    await create(cluster, "bottom", [refTo(middle)]);
    await create(cluster, "other");

    await cluster.client(ConfigMap).delete(top, { propagationPolicy: "Background" });
    await cluster.settle();

    expect(names(cluster)).toEqual(["other"]);
  });

  test("in the foreground the owner stays until the dependents that block it are gone", async () => {
    await using cluster = await start(seed);
    const top = await create(cluster, "top");
    await create(cluster, "held", [{ ...refTo(top), blockOwnerDeletion: true }], ["example.com/hold"]);
    await create(cluster, "plain", [{ ...refTo(top), blockOwnerDeletion: true }]);

    await cluster.client(ConfigMap).delete(top, { propagationPolicy: "Foreground" });
    await cluster.settle();
    expect(names(cluster)).toEqual(["held", "top"]);

    await release(cluster, "held");
    await cluster.settle();
    expect(names(cluster)).toEqual([]);
  });

  test("in the foreground dependents that block nothing are not waited for, and go all the same", async () => {
    await using cluster = await start(seed);
    const top = await create(cluster, "top");
    await create(cluster, "held", [refTo(top)], ["example.com/hold"]);

    await cluster.client(ConfigMap).delete(top, { propagationPolicy: "Foreground" });
    await cluster.settle();

    const [held, ...others] = cluster.objects(ConfigMap, "default");
    expect(others).toEqual([]);
    expect(held?.metadata.deletionTimestamp).toBeDefined();
  });

  test("the foreground goes on through the dependents of dependents, from the leaves up", async () => {
    await using cluster = await start(seed);
    const top = await create(cluster, "top");
    const middle = await create(cluster, "middle", [{ ...refTo(top), blockOwnerDeletion: true }]);
    await create(cluster, "bottom", [{ ...refTo(middle), blockOwnerDeletion: true }], ["example.com/hold"]);

    await cluster.client(ConfigMap).delete(top, { propagationPolicy: "Foreground" });
    await cluster.settle();
    expect(names(cluster)).toEqual(["bottom", "middle", "top"]);

    await release(cluster, "bottom");
    await cluster.settle();
    expect(names(cluster)).toEqual([]);
  });

  test("orphans stay without a reference to the owner that has gone", async () => {
    await using cluster = await start(seed);
    const top = await create(cluster, "top");
    const second = await create(cluster, "second");
    await create(cluster, "one", [refTo(top)]);
    await create(cluster, "two", [refTo(top), refTo(second)]);

    await cluster.client(ConfigMap).delete(top, { propagationPolicy: "Orphan" });
    await cluster.settle();

    expect(names(cluster)).toEqual(["one", "second", "two"]);
    expect(await ownersOf(cluster, "one")).toEqual([]);
    expect(await ownersOf(cluster, "two")).toEqual(["second"]);
  });

  test("a dependent of several owners stays with those that are left", async () => {
    await using cluster = await start(seed);
    const [one, two] = [await create(cluster, "one"), await create(cluster, "two")];
    await create(cluster, "both", [refTo(one), refTo(two)]);

    await cluster.client(ConfigMap).delete(one);
    await cluster.settle();
    expect(await ownersOf(cluster, "both")).toEqual(["two"]);

    await cluster.client(ConfigMap).delete(two);
    await cluster.settle();
    expect(names(cluster)).toEqual([]);
  });

  test("owners in a circle that wait for each other all go", async () => {
    await using cluster = await start(seed);
    const first = await create(cluster, "first");
    const second = await create(cluster, "second", [{ ...refTo(first), blockOwnerDeletion: true }]);
    const third = await create(cluster, "third", [{ ...refTo(second), blockOwnerDeletion: true }]);
    await own(cluster, "first", [{ ...refTo(third), blockOwnerDeletion: true }]);
    await cluster.settle();
    expect(names(cluster)).toEqual(["first", "second", "third"]);

    await cluster.client(ConfigMap).delete({ name: "first" }, { propagationPolicy: "Foreground" });
    await cluster.settle();

    expect(names(cluster)).toEqual([]);
  });

  test("an object that owns itself can be deleted in the foreground", async () => {
    await using cluster = await start(seed);
    const self = await create(cluster, "self");
    await own(cluster, "self", [{ ...refTo(self), blockOwnerDeletion: true }]);

    await cluster.client(ConfigMap).delete({ name: "self" }, { propagationPolicy: "Foreground" });
    await cluster.settle();

    expect(names(cluster)).toEqual([]);
  });
});

describe.each(SEEDS)("a finalizer, seed %s", (seed) => {
  test("holds an object, and its owner in the foreground, until its controller is done", async () => {
    const done: string[] = [];
    const cleaner = defineController<Secret>({
      name: "cleaner",
      for: Secret,
      finalizer: "example.com/clean",
      reconcile: async () => undefined,
      finalize: async ({ metadata }, { clock }) => {
        const leftMs = Date.parse(metadata.deletionTimestamp ?? "") + 30_000 - clock.now();
        if (leftMs > 0) return { recheckAfterMs: leftMs };
        done.push(metadata.name);
        return undefined;
      },
    });
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: [COLLECTOR],
      controllers: [cleaner],
    });
    const owner = await create(cluster, "owner");
    const ownerReferences = [{ ...refTo(owner), blockOwnerDeletion: true }];
    await cluster.client(Secret).create({ metadata: { name: "cleaned", ownerReferences } });
    await cluster.settle();

    await cluster.client(ConfigMap).delete(owner, { propagationPolicy: "Foreground" });
    await cluster.clock.advance("20s");
    expect([names(cluster), cluster.objects(Secret).length, done]).toEqual([["owner"], 1, []]);

    await cluster.settle();
    expect([names(cluster), cluster.objects(Secret).length, done]).toEqual([[], 0, ["cleaned"]]);
  });
});

describe("absent owners", () => {
  test("a new object under the name of the owner is not the owner", async () => {
    await using cluster = await start();
    const old = await create(cluster, "owner");
    await create(cluster, "dependent", [refTo(old)]);
    await cluster.settle();

    await cluster.client(ConfigMap).delete(old);
    await create(cluster, "owner");
    await cluster.settle();

    expect(names(cluster)).toEqual(["owner"]);
  });

  test("an owner that never existed leaves nothing behind", async () => {
    await using cluster = await start();
    await create(cluster, "dependent", [
      { apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "11111111-1111-4111-8111-111111111111" },
    ]);
    await cluster.settle();

    expect(names(cluster)).toEqual([]);
  });

  test("an owner of a kind that is not served is nothing to judge by", async () => {
    await using cluster = await start();
    const unknown = { apiVersion: "example.com/v1", kind: "Unknown", name: "x", uid: "u-1" };
    await create(cluster, "dependent", [unknown]);
    await cluster.settle();
    await cluster.clock.advance("1h");

    expect(names(cluster)).toEqual(["dependent"]);
  });

  test("an owner in another namespace is reported, and counts as absent", async () => {
    await using cluster = await start();
    await cluster.client(Namespace).create({ metadata: { name: "far" } });
    const owner = await cluster.client(ConfigMap).create({ metadata: { name: "owner", namespace: "far" } });
    const dependent = await create(cluster, "dependent", [refTo(owner)]);
    await cluster.settle();

    expect(names(cluster)).toEqual([]);
    const { uid } = owner.metadata;
    expect(eventsAbout(cluster, dependent)).toEqual([
      {
        reason: "OwnerRefInvalidNamespace",
        type: "Warning",
        message: `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${uid}] does not exist in namespace "default"`,
      },
    ]);
  });

  test("an object without namespace whose owner has one is reported, and stays", async () => {
    await using cluster = await start();
    const owner = await create(cluster, "owner");
    const role = await cluster
      .client(ClusterRole)
      .create({ metadata: { name: "stays", ownerReferences: [refTo(owner)] }, rules: [] });
    await cluster.settle();
    await cluster.client(ConfigMap).delete(owner);
    await cluster.settle();

    expect(cluster.objects(ClusterRole).map(({ metadata }) => metadata.name)).toContain("stays");
    expect(eventsAbout(cluster, role).map(({ reason }) => reason)).toContain("OwnerRefInvalidNamespace");
  });

  test("an owner without namespace has dependents in any", async () => {
    await using cluster = await start();
    const owner = await cluster.client(ClusterRole).create({ metadata: { name: "owner" }, rules: [] });
    await create(cluster, "dependent", [refTo(owner)]);
    await cluster.settle();
    expect(names(cluster)).toEqual(["dependent"]);

    await cluster.client(ClusterRole).delete(owner);
    await cluster.settle();
    expect(names(cluster)).toEqual([]);
  });

  test("owners deleted before the collector's start are noticed at its start", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: "none" });
    const owner = await create(cluster, "owner");
    await create(cluster, "kept", [refTo(await create(cluster, "there"))]);
    await create(cluster, "dependent", [refTo(owner)]);
    await cluster.client(ConfigMap).delete(owner);
    await cluster.settle();

    cluster.run({ routines: [garbageCollectorRoutine] });
    await cluster.settle();

    expect(names(cluster)).toEqual(["kept", "there"]);
  });
});

describe("a whole tree", () => {
  test("a Deployment goes with its ReplicaSets and Pods in each of the three ways", async () => {
    const loops = [COLLECTOR, "deployment-controller", "replicaset-controller"];
    for (const propagationPolicy of ["Background", "Foreground", "Orphan"] as const) {
      await using cluster = await startCluster({ clock: "virtual", loops });
      await cluster.client(Deployment).create(deployment(3));
      await cluster.settle();
      expect(cluster.objects(Pod)).toHaveLength(3);

      await cluster.client(Deployment).delete({ name: "web" }, { propagationPolicy });
      await cluster.settle();

      const left = propagationPolicy === "Orphan" ? [0, 1, 3] : [0, 0, 0];
      const kinds = [Deployment, ReplicaSet, Pod];
      expect(kinds.map((kind) => cluster.objects(kind as typeof Pod).length)).toEqual(left);
    }
  });

  test("a thousand dependents go with their owner, and nothing is written once they have", async () => {
    await using cluster = await start();
    const owner = await create(cluster, "owner");
    for (let at = 0; at < 1000; at += 50) {
      const batch = Array.from({ length: 50 }, (_, index) => `d-${String(at + index)}`);
      await Promise.all(batch.map((name) => create(cluster, name, [refTo(owner)])));
    }

    await cluster.client(ConfigMap).delete(owner, { propagationPolicy: "Foreground" });
    await cluster.settle();
    expect(names(cluster)).toEqual([]);

    const before = await revision(cluster);
    await cluster.clock.advance("1h");
    expect(await revision(cluster)).toBe(before);
  });

  test("a collector that was killed half-way goes on where it was", async () => {
    await using cluster = await start();
    const owner = await create(cluster, "owner");
    const held = { ...refTo(owner), blockOwnerDeletion: true };
    await create(cluster, "held", [held], ["example.com/hold"]);
    await cluster.client(ConfigMap).delete(owner, { propagationPolicy: "Foreground" });
    await cluster.settle();

    await using later = await cluster.fork();
    await release(later, "held");
    await later.settle();

    expect(names(later)).toEqual([]);
    expect(names(cluster)).toEqual(["held", "owner"]);
  });
});

describe.each(SEEDS)("custom resources, seed %s", (seed) => {
  test("are owners and dependents as any other", async () => {
    await using cluster = await start(seed);
    await define(cluster);
    await cluster.settle();
    const widget = await cluster.client(Widget).create({ metadata: { name: "owner" } });
    const middle = await create(cluster, "middle", [refTo(widget)]);
    await cluster.client(Widget).create({ metadata: { name: "leaf", ownerReferences: [refTo(middle)] } });
    await cluster.settle();
    expect(cluster.objects(Widget)).toHaveLength(2);

    await cluster.client(Widget).delete(widget, { propagationPolicy: "Foreground" });
    await cluster.settle();

    expect(names(cluster)).toEqual([]);
    expect(cluster.objects(Widget)).toEqual([]);
  });

  test("let go of their dependents as orphans", async () => {
    await using cluster = await start(seed);
    await define(cluster);
    const widget = await cluster.client(Widget).create({ metadata: { name: "owner" } });
    await create(cluster, "dependent", [refTo(widget)]);
    await cluster.client(Widget).delete(widget, { propagationPolicy: "Orphan" });
    await cluster.settle();

    expect(cluster.objects(Widget)).toEqual([]);
    expect(await ownersOf(cluster, "dependent")).toEqual([]);
  });

  test("take their dependents along when their definition goes", async () => {
    await using cluster = await start(seed);
    await define(cluster);
    const widget = await cluster.client(Widget).create({ metadata: { name: "owner" } });
    await create(cluster, "dependent", [refTo(widget)]);
    await cluster.settle();

    await cluster.client(CustomResourceDefinition).delete({ name: "widgets.example.com" });
    await cluster.settle();
    expect(names(cluster)).toEqual([]);

    await define(cluster);
    await cluster.settle();
    const again = await cluster.client(Widget).create({ metadata: { name: "owner" } });
    await create(cluster, "dependent", [refTo(again)]);
    await cluster.settle();
    expect(names(cluster)).toEqual(["dependent"]);
  });
});

interface Widget extends ApiObject {
  readonly apiVersion: "example.com/v1";
  readonly kind: "Widget";
}
const Widget: ResourceType<Widget> = {
  apiVersion: "example.com/v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

async function define(cluster: Cluster): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object" } };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  await cluster.client(CustomResourceDefinition).create({
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      names: { kind: "Widget", plural: "widgets" },
      scope: "Namespaced",
      versions,
    },
  });
  await cluster.until(() => isEstablished(cluster), { within: "5s" });
}

function isEstablished(cluster: Cluster): boolean {
  const [definition] = cluster.objects(CustomResourceDefinition);
  return (
    definition?.status.conditions?.some(({ type, status }) => type === "Established" && status === "True") ===
    true
  );
}

function start(seed = 1): Promise<Cluster> {
  return startCluster({ clock: "virtual", seed, loops: [COLLECTOR] });
}

function create(
  cluster: Cluster,
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
  finalizers: readonly string[] = [],
): Promise<ConfigMap> {
  return cluster.client(ConfigMap).create({ metadata: { name, ownerReferences, finalizers } });
}

async function own(
  cluster: Cluster,
  name: string,
  ownerReferences: readonly OwnerReference[],
): Promise<void> {
  await cluster
    .client(ConfigMap)
    .patch({ name }, { type: "merge", changes: { metadata: { ownerReferences } } });
}

async function release(cluster: Cluster, name: string): Promise<void> {
  const changes = { metadata: { finalizers: null } };
  await cluster.client(ConfigMap).patch({ name }, { type: "merge", changes });
}

function refTo({ apiVersion, kind, metadata: { name = "", uid = "" } }: ApiObject): OwnerReference {
  return { apiVersion, kind, name, uid };
}

function names(cluster: Cluster): readonly string[] {
  return cluster.objects(ConfigMap, "default").map(({ metadata }) => metadata.name ?? "");
}

async function ownersOf(cluster: Cluster, name: string): Promise<readonly string[]> {
  const { metadata } = await cluster.client(ConfigMap).get({ name });
  return (metadata.ownerReferences ?? []).map((reference) => reference.name);
}

interface Told {
  readonly reason: string | undefined;
  readonly type: string | undefined;
  readonly message: string | undefined;
}

function eventsAbout(cluster: Cluster, { metadata }: ApiObject): readonly Told[] {
  return cluster
    .objects(Event)
    .filter(({ involvedObject }) => involvedObject.uid === metadata.uid)
    .map(({ reason, type, message }) => ({ reason, type, message }));
}

async function revision(cluster: Cluster): Promise<string> {
  const { metadata } = await cluster.client(ConfigMap).list();
  return metadata.resourceVersion;
}

function deployment(replicas: number): Manifest<Deployment> {
  const labels = { app: "web" };
  return {
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    },
  };
}
