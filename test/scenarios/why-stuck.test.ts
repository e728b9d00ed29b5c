/** `setpoint why` of objects that wait: what blocks each, and which command unblocks it. */
import { describe, expect, test } from "vitest";
import type { ApiObject, Manifest, ResourceType } from "../../src/api/api-object.ts";
import { ValidatingWebhookConfiguration } from "../../src/api/generated/types/admissionregistration-v1.ts";
import { Deployment, ReplicaSet } from "../../src/api/generated/types/apps-v1.ts";
import {
  ConfigMap,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
} from "../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../src/api/generated/types/policy-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { explainObject } from "../../src/insight/explain/explain-object.ts";
import type { Explanation } from "../../src/insight/explain/explanation.ts";

const labels = { app: "web" };
const CONTROLLERS = ["deployment-controller", "replicaset-controller"];

type PodSpec = Partial<Manifest<Pod>["spec"]>;

function podSpec(spec: PodSpec = {}): Manifest<Pod>["spec"] {
  return { containers: [{ name: "web", image: "web:1" }], ...spec };
}

function web(spec: object = {}, pod: PodSpec = {}): Manifest<Deployment> {
  const template = { metadata: { labels }, spec: podSpec(pod) };
  return {
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: labels }, template, ...spec },
  };
}

function mounting(name: string): PodSpec {
  return { containers: [{ name: "web", image: "web:1", volumeMounts: [{ name, mountPath: "/v" }] }] };
}

async function why<T extends ApiObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  name = "web",
): Promise<Explanation> {
  const namespace = type.namespaced ? "default" : "";
  return await explainObject(cluster.client, { type, namespace, name }, cluster.clock.now());
}

async function obstacles<T extends ApiObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  name = "web",
): Promise<string> {
  const explanation = await why(cluster, type, name);
  return explanation.obstacles
    .flatMap(({ of = "it", blockedBy, unblock }) => [
      `${of}: ${blockedBy}`,
      ...unblock.map(({ command, effect }) => `$ ${command}  # ${effect}`),
    ])
    .join("\n");
}

async function startWithPod(
  spec: PodSpec,
  annotations: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", nodes: 2 });
  await cluster.client(Pod).create({ metadata: { name: "web", annotations }, spec: podSpec(spec) });
  await cluster.clock.advance("45s");
  return cluster;
}

describe("an object that waits", () => {
  test("for a finalizer names the writer that added it", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: [] });
    const maps = cluster.client.with({ fieldManager: "cleaner" })(ConfigMap);
    await maps.create({ metadata: { name: "web", finalizers: ["example.com/clean"] } });
    await maps.delete({ name: "web" });
    await cluster.clock.advance("90s");

    const text = await obstacles(cluster, ConfigMap);

    expect(text).toContain(
      "finalizer example.com/clean, for 1 min 30 s; to be removed by cleaner, which added it",
    );
    expect(text).toContain("kubectl patch configmap web --type=json");
  });

  test("for a condition shows it", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      nodes: 1,
      loops: [],
    });
    await cluster.client(Pod).create({
      metadata: { name: "web" },
      spec: podSpec({ readinessGates: [{ conditionType: "example.com/approved" }], nodeName: "node-1" }),
    });
    await cluster.clock.advance("10s");

    expect(await obstacles(cluster, Pod)).toContain("condition Ready is False (ReadinessGatesNotReady");
  });

  test("for a quota shows its use, and how often it refused", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await cluster.client(ResourceQuota).create({ metadata: { name: "q" }, spec: { hard: { pods: "1" } } });
    await cluster.settle();
    await cluster.client(Deployment).create(web());
    await cluster.clock.advance("20s");

    const text = await obstacles(cluster, Deployment);

    expect(text).toMatch(/ReplicaSet web-\w+: ResourceQuota default\/q: pods 1 of 1 used; refused \d+ times/);
    expect(text).toContain("kubectl edit quota q  # raise spec.hard.pods to 2 or more");
    expect(text).toContain("kubectl scale deployment web --replicas=1");
    expect(text.match(/ResourceQuota default/g)).toHaveLength(1);
  });

  test("for room on a node gets the scheduler's reasons by group of nodes", async () => {
    await using cluster = await startWithPod({
      containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "99" } } }],
    });
    const text = await obstacles(cluster, Pod);

    expect(text).toContain("the scheduler: none of 2 nodes fits: 2 Insufficient cpu");
    expect(text).toContain("add a node");
  });

  test("for a taint names it and its nodes", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 2 });
    await cluster.settle();
    const taints = [{ key: "gpu", value: "yes", effect: "NoSchedule" }];
    for (const name of ["node-1", "node-2"])
      await cluster.client(Node).patch({ name }, { type: "merge", changes: { spec: { taints } } });
    await cluster.client(Pod).create({ metadata: { name: "web" }, spec: podSpec() });
    await cluster.clock.advance("5s");

    const text = await obstacles(cluster, Pod);

    expect(text).toContain("taints keep it off 2 of 2 nodes: gpu=yes:NoSchedule on node-1, node-2");
    expect(text).toContain("kubectl taint nodes node-1 gpu=yes:NoSchedule-");
  });

  test("for the back-off of a crashing container knows the next try", async () => {
    const annotations = {
      "simulated.setpoint.dev/exit-after": "1s",
      "simulated.setpoint.dev/exit-code": "7",
    };
    await using cluster = await startWithPod({}, annotations);

    const text = await obstacles(cluster, Pod);

    expect(text).toMatch(/container web ended with code 7 \(Error\), restarts: \d; next try in \d+ s/);
    expect(text).toContain("kubectl logs web -c web --previous");
  });

  test("for an image names it", async () => {
    await using cluster = await startWithPod({ containers: [{ name: "web", image: "web:nonexistent" }] });

    expect(await obstacles(cluster, Pod)).toMatch(
      /image web:nonexistent of container web: (ErrImagePull|ImagePullBackOff)/,
    );
  });

  test("for a webhook that does not answer names it", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: CONTROLLERS });
    await cluster.client(ValidatingWebhookConfiguration).create({
      metadata: { name: "guard" },
      webhooks: [
        {
          name: "guard.example.com",
          clientConfig: { service: { namespace: "default", name: "guard" } },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          failurePolicy: "Fail",
        },
      ],
    });
    await cluster.client(Deployment).create(web());
    await cluster.clock.advance("20s");

    const text = await obstacles(cluster, Deployment);

    expect(text).toMatch(/webhook guard.example.com does not answer/);
    expect(text).toContain("failurePolicy: Ignore");
  });

  test("without its owner is told so", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: [] });
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "gone", uid: "u-1" }];
    await cluster.client(Pod).create({ metadata: { name: "web", ownerReferences }, spec: podSpec() });

    expect(await obstacles(cluster, Pod)).toContain(
      "its owner is gone (ReplicaSet gone); the garbage collector will delete it",
    );
  });

  test("for a PodDisruptionBudget names it, when its node is drained", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await cluster.client(Deployment).create(web());
    await cluster.client(PodDisruptionBudget).create({
      metadata: { name: "b" },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    });
    await cluster.settle();
    await cluster
      .client(Node)
      .patch({ name: "node-1" }, { type: "merge", changes: { spec: { unschedulable: true } } });

    const of = await why(cluster, Node, "node-1");

    expect(of.obstacles[0]?.blockedBy).toMatch(
      /PodDisruptionBudget default\/b allows no eviction of pod web-\S+, web-\S+: 2 healthy, 2 needed/,
    );
  });

  test.each([
    ["ConfigMap", { envFrom: [{ configMapRef: { name: "settings" } }] }, "kubectl create configmap settings"],
    ["Secret", { envFrom: [{ secretRef: { name: "settings" } }] }, "kubectl create secret generic settings"],
  ])("for a %s in its environment names it", async (kind, env, remedy) => {
    await using cluster = await startWithPod({ containers: [{ name: "web", image: "web:1", ...env }] });
    const text = await obstacles(cluster, Pod);

    expect(text).toContain(`${kind} default/settings does not exist, and the pod needs it`);
    expect(text).toContain(remedy);
  });

  test("for a ConfigMap in a volume names it", async () => {
    await using cluster = await startWithPod({
      volumes: [{ name: "v", configMap: { name: "files" } }],
      ...mounting("v"),
    });

    expect(await obstacles(cluster, Pod)).toContain("ConfigMap default/files does not exist");
  });

  test("for a claim names it", async () => {
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    await using cluster = await startWithPod({ volumes, ...mounting("v") });
    expect(await obstacles(cluster, Pod)).toContain("PersistentVolumeClaim default/data does not exist");

    await cluster.client(PersistentVolumeClaim).create({
      metadata: { name: "data" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "none",
        resources: { requests: { storage: "1Gi" } },
      },
    });
    await cluster.clock.advance("30s");

    expect(await obstacles(cluster, Pod)).toContain(
      "PersistentVolumeClaim default/data is not bound to a volume",
    );
    expect(await obstacles(cluster, PersistentVolumeClaim, "data")).toContain("no volume for the claim");
  });

  test("for a service account names it", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await cluster.client(Deployment).create(web({}, { serviceAccountName: "robot" }));
    await cluster.clock.advance("20s");

    const text = await obstacles(cluster, Deployment);

    expect(text).toMatch(/ServiceAccount default\/robot does not exist/);
    expect(text).toContain("kubectl create serviceaccount robot");
  });

  test("for the end of a pause is told how to go on", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await cluster.client(Deployment).create(web({ paused: true }));
    await cluster.settle();

    const text = await obstacles(cluster, Deployment);

    expect(text).toContain("the rollout is paused (spec.paused), with 0 of 2 pods on the newest template");
    expect(text).toContain("kubectl rollout resume deployment web");
  });

  test("for a leader names the lease that no process holds", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: [] });
    await cluster.client(Deployment).create(web());
    await cluster.client(Pod).create({ metadata: { name: "web" }, spec: podSpec() });

    expect(await obstacles(cluster, Deployment)).toContain(
      "the lease kube-system/kube-controller-manager does not exist",
    );
    expect(await obstacles(cluster, Pod)).toContain("the lease kube-system/kube-scheduler does not exist");
  });

  test("for a node that is lost names it", async () => {
    await using cluster = await startWithPod({});
    const { nodeName = "" } = cluster.objects(Pod)[0]?.spec ?? {};
    await cluster.client(Node).patch(
      { name: nodeName },
      {
        type: "merge",
        changes: { metadata: { annotations: { "simulated.setpoint.dev/down": "true" } } },
      },
    );
    await cluster.clock.advance("80s");

    expect(await obstacles(cluster, Pod)).toContain(`node ${nodeName} is not ready`);
  });

  test("for a rollout that passed its deadline gets the cause first", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    const annotations = { "simulated.setpoint.dev/ready-after": "never" };
    const template = { metadata: { labels, annotations }, spec: podSpec() };
    await cluster.client(Deployment).create(web({ template }));
    await cluster.clock.advance("11m");

    const found = (await why(cluster, Deployment)).obstacles.map(({ blockedBy }) => blockedBy);

    // The cause comes before its consequence.
    expect(found).toEqual([
      expect.stringContaining("container web runs, but is not ready: Readiness probe failed"),
      expect.stringContaining("the rollout made no progress in time"),
    ]);
  });
});

describe("an object that is as desired", () => {
  test("has no obstacles, although it had some", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    await cluster.client(ResourceQuota).create({ metadata: { name: "q" }, spec: { hard: { pods: "1" } } });
    await cluster.settle();
    await cluster.client(Deployment).create(web());
    await cluster.clock.advance("20s");
    await cluster
      .client(ResourceQuota)
      .patch({ name: "q" }, { type: "merge", changes: { spec: { hard: { pods: "5" } } } });
    await cluster.settle();

    expect((await why(cluster, Deployment)).obstacles).toEqual([]);
    const [set] = cluster.objects(ReplicaSet);
    expect((await why(cluster, ReplicaSet, set?.metadata.name)).obstacles).toEqual([]);
  });
});
