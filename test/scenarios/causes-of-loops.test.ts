/** Every write of the cluster's own loops states its cause: which pass wrote it, and what woke the pass. */
import { expect, test } from "vitest";
import type { ApiObject, Manifest } from "../../src/api/api-object.ts";
import type { Change, ChangeList } from "../../src/api/causes/change.ts";
import { Deployment, StatefulSet } from "../../src/api/generated/types/apps-v1.ts";
import {
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
} from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";

type AnyManifest = Manifest<ApiObject> & Pick<ApiObject, "apiVersion" | "kind">;

const container = { name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } };
const template = (app: string, spec: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [container], ...spec },
});
const selector = (app: string) => ({ matchLabels: { app } });
const object = (apiVersion: string, kind: string, name: string, rest: object): AnyManifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "default" },
  ...rest,
});

/** Takes more than half of a node. */
const FILLING = { containers: [{ ...container, resources: { requests: { cpu: "5" } } }] };

const MANIFESTS: readonly AnyManifest[] = [
  object("apps/v1", "Deployment", "web", {
    spec: { replicas: 2, selector: selector("web"), template: template("web") },
  }),
  object("apps/v1", "StatefulSet", "db", {
    spec: {
      replicas: 2,
      serviceName: "db",
      selector: selector("db"),
      template: template("db"),
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  }),
  object("apps/v1", "DaemonSet", "agent", {
    spec: { selector: selector("agent"), template: template("agent") },
  }),
  object("v1", "ReplicationController", "old", {
    spec: { replicas: 1, selector: { app: "old" }, template: template("old") },
  }),
  object("batch/v1", "Job", "once", {
    metadata: {
      name: "once",
      namespace: "default",
    },
    spec: {
      ttlSecondsAfterFinished: 5,
      template: {
        metadata: { annotations: { "simulated.setpoint.dev/exit-after": "1s" } },
        spec: { restartPolicy: "Never", containers: [container] },
      },
    },
  }),
  object("batch/v1", "CronJob", "often", {
    spec: {
      schedule: "* * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations: { "simulated.setpoint.dev/exit-after": "1s" } },
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
    },
  }),
  object("v1", "Service", "web", { spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }),
  object("v1", "Service", "manual", { spec: { ports: [{ port: 80 }] } }),
  object("v1", "Endpoints", "manual", {
    subsets: [{ addresses: [{ ip: "10.9.9.9" }], ports: [{ port: 80 }] }],
  }),
  object("policy/v1", "PodDisruptionBudget", "web", {
    spec: { minAvailable: 1, selector: selector("web") },
  }),
  object("v1", "ResourceQuota", "limits", { spec: { hard: { pods: "100" } } }),
  object("autoscaling/v2", "HorizontalPodAutoscaler", "web", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ],
    },
  }),
  object("rbac.authorization.k8s.io/v1", "ClusterRole", "mine", {
    metadata: { name: "mine", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    rules: [{ apiGroups: ["example.com"], resources: ["lamps"], verbs: ["get"] }],
  }),
  object("v1", "Pod", "scratch", {
    spec: {
      containers: [container],
      volumes: [
        {
          name: "own",
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          },
        },
      ],
    },
  }),
  object("v1", "Pod", "impossible", {
    spec: { containers: [{ ...container, resources: { requests: { cpu: "900" } } }] },
  }),
  object("v1", "Pod", "crashing", {
    metadata: {
      name: "crashing",
      namespace: "default",
      annotations: { "simulated.setpoint.dev/exit-after": "1s", "simulated.setpoint.dev/exit-code": "1" },
    },
    spec: { containers: [container] },
  }),
  object("scheduling.k8s.io/v1", "PriorityClass", "urgent", { metadata: { name: "urgent" }, value: 1000 }),
  object("apps/v1", "Deployment", "filling", {
    spec: { replicas: 4, selector: selector("filling"), template: template("filling", FILLING) },
  }),
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  {
    ...object("v1", "ConfigMap", "settings", { data: { a: "b" } }),
    metadata: { name: "settings", namespace: "shop" },
  },
];

/** Loops that write in this scenario. A loop that is missing here would not be tested. */
const WRITERS = [
  "clusterrole-aggregation-controller",
  "cronjob-controller",
  "daemonset-controller",
  "default-scheduler",
  "default-storage-class",
  "deployment-controller",
  "disruption-controller",
  "endpoint-controller",
  "endpoint-slice-controller",
  "endpoint-slice-mirroring-controller",
  "ephemeral-volume-controller",
  "garbage-collector-controller",
  "horizontal-pod-autoscaler",
  "host-path-provisioner",
  "job-controller",
  "kubelet",
  "namespace-controller",
  "node-controller",
  "node-ipam-controller",
  "persistentvolume-controller",
  "persistentvolume-phase-controller",
  "pod-garbage-collector-controller",
  "pv-protection-controller",
  "pvc-protection-controller",
  "replicaset-controller",
  "replication-controller",
  "resourcequota-controller",
  "service-cidr-controller",
  "serviceaccount-controller",
  "statefulset-controller",
  "taint-eviction-controller",
  "ttl-controller",
];

test("every write of a loop names its pass, and what woke it or why it began", async () => {
  await using cluster = await startCluster({ clock: "virtual", nodes: 4 });
  const { client, clock } = cluster;
  for (const manifest of MANIFESTS) await client.apply(manifest, { fieldManager: USER });
  await clock.advance("2m");
  await client(Deployment).scale({ name: "web" }, 3);
  await client(Pod).delete({ name: "scratch" });
  await client(PersistentVolumeClaim).delete({ name: "scratch-own" });
  await client(Namespace).delete({ name: "shop" });
  await client(ReplicationController).delete({ name: "old" }, { propagationPolicy: "Orphan" });
  await client(Deployment).delete({ name: "web" }, { propagationPolicy: "Foreground" });
  await client(StatefulSet).delete({ name: "db" });
  await client.apply(object("v1", "Pod", "urgent", { spec: { ...FILLING, priorityClassName: "urgent" } }));
  await clock.advance("30s");
  const [tainted, down, gone] = cluster.objects(Node).map(({ metadata }) => metadata.name);
  await change(cluster, tainted, { spec: { taints: [{ key: "broken", effect: "NoExecute" }] } });
  await change(cluster, down, { metadata: { annotations: { "simulated.setpoint.dev/down": "true" } } });
  await client(Node).delete({ name: gone ?? "" });
  await clock.advance("100s");

  const written = (await allChanges(cluster)).filter(({ author }) => isLoop(author));
  const unexplained = written.filter(
    ({ pass }) => pass?.subject === undefined || (pass.reasonCount === 0 && pass.note === undefined),
  );
  const writers = new Set(written.map(({ author }) => author?.manager));

  expect(unexplained.map(({ author, object: about }) => [author?.manager, about])).toEqual([]);
  expect(WRITERS.filter((name) => !writers.has(name))).toEqual([]);
});

const USER = "jo";

/** The server's own objects have no loop, and the scenario's writes are a user's. */
function isLoop(author: Change["author"]): boolean {
  return author?.user !== "system:apiserver" && author?.user !== "kubernetes-admin";
}

async function change({ client }: Cluster, name = "", changes: object): Promise<void> {
  await client(Node).patch({ name }, { type: "merge", changes });
}

async function allChanges({ client }: Cluster): Promise<readonly Change[]> {
  const found: Change[] = [];
  let token: string | undefined;
  do {
    const query = { limit: "500", ...(token !== undefined && { continue: token }) };
    const list = (await client.request({
      path: "/apis/causes.setpoint.dev/v1/changes",
      query,
    })) as ChangeList;
    found.push(...list.items);
    token = list.metadata.continue;
  } while (token !== undefined && token !== "");
  return found;
}
