import { describe, expect, test } from "vitest";
import type { ResourceType } from "../../src/api/api-object.ts";
import { CustomResourceDefinition } from "../../src/api/generated/types/apiextensions-v1.ts";
import { Deployment, ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import { Job } from "../../src/api/generated/types/batch-v1.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { ResourceClient } from "../../src/client/client.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { replicaSetController } from "../../src/controllers/replica-set.ts";
import type { Controller, ReconcileContext } from "../../src/runtime/controller/controller.ts";

const LOOPS = ["namespace-controller", "garbage-collector-controller"];
const REPLICAS = 50;
const SPEC = { containers: [{ name: "main", image: "main:1" }] };

describe.each([1, 2])("a namespace that is deleted, seed %s", (seed) => {
  test("goes with everything in it, and others are untouched", async () => {
    await using cluster = await start(seed);
    for (const namespace of ["going", "staying"]) {
      await cluster.client(ConfigMap).create({ metadata: { name: "config", namespace } });
      await cluster.client(Secret).create({ metadata: { name: "secret", namespace } });
      await cluster.client(Pod).create({ metadata: { name: "pod", namespace }, spec: SPEC });
    }

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
    for (const type of [ConfigMap, Secret, Pod])
      expect(cluster.objects(type as typeof Pod).map(({ metadata }) => metadata.namespace)).toEqual([
        "staying",
      ]);
  });

  test("takes pods along that a Job keeps until they are replaced", async () => {
    const loops = [...LOOPS, "job-controller"];
    await using cluster = await startCluster({ clock: "virtual", seed, loops });
    await cluster.client(Namespace).create({ metadata: { name: "going" } });
    await cluster.client(Job).create({
      metadata: { name: "work", namespace: "going" },
      spec: {
        completions: 1,
        completionMode: "Indexed",
        backoffLimitPerIndex: 3,
        template: { spec: { ...SPEC, restartPolicy: "Never" } },
      },
    });
    await cluster.clock.advance("1s");
    const [pod] = cluster.objects(Pod, "going");
    if (pod === undefined) throw new Error("the Job has made a pod");
    await cluster.client(Pod).updateStatus(pod, { phase: "Failed" });

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
  });

  test("is asked for one pod a pass by a ReplicaSet, however many it wants", async () => {
    let asked = 0;
    const counted = counting(replicaSetController, () => (asked += 1));
    await using cluster = await startCluster({
      clock: "virtual",
      seed,
      loops: LOOPS,
      controllers: [counted],
    });
    await cluster.client(Namespace).create({ metadata: { name: "going" } });
    const labels = { app: "web" };
    await cluster.client(ReplicaSet).create({
      metadata: { name: "web", namespace: "going" },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: SPEC },
      },
    });
    await cluster.settle();
    asked = 0;

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
    expect(asked).toBeLessThanOrEqual(10);
  });

  test("stays for some seconds, so that clients that delete its content still find it", async () => {
    await using cluster = await start(seed);
    await cluster.client(ConfigMap).create({ metadata: { name: "config", namespace: "going" } });
    const found = (): boolean => cluster.objects(ConfigMap, "going").length > 0;

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.clock.advance("3s");
    const soon = found();
    await cluster.clock.advance("3s");

    expect([soon, found()]).toEqual([true, false]);
  });

  test("says which finalizers hold what, and goes once they are gone", async () => {
    await using cluster = await start(seed);
    const finalizers = ["example.com/hold"];
    await cluster.client(ConfigMap).create({ metadata: { name: "held", namespace: "going", finalizers } });

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(conditions(cluster)).toEqual({
      NamespaceDeletionDiscoveryFailure: [
        "False",
        "ResourcesDiscovered",
        "All resources successfully discovered",
      ],
      NamespaceDeletionGroupVersionParsingFailure: [
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
      ],
      NamespaceDeletionContentFailure: [
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
      ],
      NamespaceContentRemaining: [
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 1 resource instances",
      ],
      NamespaceFinalizersRemaining: [
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
      ],
    });

    const changes = { metadata: { finalizers: null } };
    await cluster.client(ConfigMap).patch({ name: "held", namespace: "going" }, { type: "merge", changes });
    await cluster.clock.advance("10s");
    await cluster.settle();
    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
  });

  test("deletes its pods first, and waits for them", async () => {
    await using cluster = await start(seed);
    const spec = { ...SPEC, nodeName: "far", terminationGracePeriodSeconds: 60 };
    const pod = await cluster.client(Pod).create({ metadata: { name: "pod", namespace: "going" }, spec });
    await cluster.client(ConfigMap).create({ metadata: { name: "config", namespace: "going" } });

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.clock.advance("40s");
    expect(cluster.objects(ConfigMap, "going")).toHaveLength(1);
    expect(conditions(cluster)["NamespaceContentRemaining"]).toEqual([
      "True",
      "SomeResourcesRemain",
      "Some resources are remaining: pods. has 1 resource instances",
    ]);

    await cluster.client(Pod).delete(pod, { gracePeriodSeconds: 0 });
    await cluster.until(() => cluster.objects(ConfigMap, "going").length === 0, { within: "1s" });
    await cluster.settle();
    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
  });

  test("says that pods should be gone when their time is over", async () => {
    await using cluster = await start(seed);
    const spec = { ...SPEC, nodeName: "far" };
    await cluster.client(Pod).create({ metadata: { name: "pod", namespace: "going" }, spec });

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.clock.advance("2m");
    await cluster.settle();

    expect(conditions(cluster)["NamespaceDeletionContentFailure"]).toEqual([
      "True",
      "ContentDeletionFailed",
      "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: going for gvr: /v1, Resource=pods",
    ]);
  });

  test("is emptied although controllers try to fill it again", async () => {
    await using cluster = await start(seed, [...LOOPS, "deployment-controller", "replicaset-controller"]);
    const labels = { app: "web" };
    await cluster.client(Deployment).create({
      metadata: { name: "web", namespace: "going" },
      spec: {
        replicas: 5,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: SPEC },
      },
    });
    await cluster.settle();
    expect(cluster.objects(Pod, "going")).toHaveLength(5);

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
    expect(cluster.objects(Pod)).toEqual([]);
  });
});

describe("custom resources", () => {
  test("go with their namespace, and those of other namespaces stay", async () => {
    await using cluster = await start(1);
    const schema = { openAPIV3Schema: { type: "object" } };
    await cluster.client(CustomResourceDefinition).create({
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        names: { kind: "Widget", plural: "widgets" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    await cluster.settle();
    for (const namespace of ["going", "staying"])
      await cluster.client(WIDGET).create({ metadata: { name: "widget", namespace } });

    await cluster.client(Namespace).delete({ name: "going" });
    await cluster.settle();

    expect(cluster.objects(Namespace).map(({ metadata }) => metadata.name)).not.toContain("going");
    expect(cluster.objects(WIDGET).map(({ metadata }) => metadata.namespace)).toEqual(["staying"]);
  });
});

const WIDGET: ResourceType = {
  apiVersion: "example.com/v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

async function start(seed: number, loops: readonly string[] = LOOPS): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", seed, loops });
  for (const name of ["going", "staying"]) await cluster.client(Namespace).create({ metadata: { name } });
  return cluster;
}

type Told = readonly [status: string, reason: string | undefined, message: string | undefined];

function conditions(cluster: Cluster): Readonly<Record<string, Told>> {
  const namespace = cluster.objects(Namespace).find(({ metadata }) => metadata.name === "going");
  const told = namespace?.status.conditions ?? [];
  return Object.fromEntries(
    told.map(({ type, status, reason, message }) => [type, [status, reason, message]]),
  );
}

/** The same controller, with a callback before each creation of a pod. */
function counting(controller: Controller, beforeCreate: () => void): Controller {
  const { definition } = controller;
  const around = ({ client }: ReconcileContext): ReconcileContext["client"] => {
    const create: ResourceClient<Pod>["create"] = (manifest, options) => {
      beforeCreate();
      return client(Pod).create(manifest, options);
    };
    const choose = (type: ResourceType): unknown => (type === Pod ? { create } : client(type));
    return Object.assign(choose, client);
  };
  const reconcile: typeof definition.reconcile = (object, context) =>
    definition.reconcile(object, { ...context, client: around(context) });
  return { ...controller, definition: { ...definition, reconcile } };
}
