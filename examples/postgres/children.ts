/** The objects that make up a PostgreSQL cluster. Pure: from what is asked for to what shall be there. */
import type { ChildManifest } from "setpoint/runtime";
import type { PostgresCluster } from "./kind.ts";

/** In Secrets and pod templates: which revision of the credentials they hold. */
export const CREDENTIALS_REVISION = "example.com/credentials-revision";
const PORT = 5432;

export interface ChildrenOptions {
  readonly password: string;
}

/** All children of the cluster. The controller removes children that are no longer in the list. */
export function childrenOf(
  cluster: PostgresCluster,
  { password }: ChildrenOptions,
): readonly ChildManifest[] {
  const { backup } = cluster.spec;
  return [
    credentials(cluster, password),
    configuration(cluster),
    service(cluster, {
      suffix: "",
      selector: { "statefulset.kubernetes.io/pod-name": `${nameOf(cluster)}-0` },
    }),
    service(cluster, { suffix: "-replicas", selector: labelsOf(cluster) }),
    service(cluster, { suffix: "-pods", selector: labelsOf(cluster), clusterIP: "None" }),
    instances(cluster),
    ...(backup === undefined ? [] : [backups(cluster, backup)]),
  ];
}

export function nameOf({ metadata }: PostgresCluster): string {
  return metadata.name;
}

function labelsOf(cluster: PostgresCluster): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": "postgres", "app.kubernetes.io/instance": nameOf(cluster) };
}

function child(cluster: PostgresCluster, suffix: string) {
  return { name: `${nameOf(cluster)}${suffix}`, labels: labelsOf(cluster) };
}

function credentials(cluster: PostgresCluster, password: string): ChildManifest {
  const revision = String(cluster.spec.credentialsRevision);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...child(cluster, "-credentials"), annotations: { [CREDENTIALS_REVISION]: revision } },
    data: { username: base64("postgres"), password: base64(password) },
  };
}

function configuration(cluster: PostgresCluster): ChildManifest {
  const lines = Object.entries(cluster.spec.parameters)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: child(cluster, "-config"),
    data: { "postgresql.conf": lines.join("") },
  };
}

interface ServiceOptions {
  readonly suffix: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly clusterIP?: string;
}

function service(cluster: PostgresCluster, { suffix, selector, clusterIP }: ServiceOptions): ChildManifest {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: child(cluster, suffix),
    spec: {
      selector,
      ports: [{ name: "postgres", port: PORT, targetPort: "postgres" }],
      ...(clusterIP !== undefined && { clusterIP }),
    },
  };
}

function instances(cluster: PostgresCluster): ChildManifest {
  const { instances: replicas, storage } = cluster.spec;
  const size = { resources: { requests: { storage: storage.size } } };
  const className = storage.className === undefined ? {} : { storageClassName: storage.className };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: child(cluster, ""),
    spec: {
      replicas,
      serviceName: `${nameOf(cluster)}-pods`,
      selector: { matchLabels: labelsOf(cluster) },
      template: podTemplate(cluster),
      volumeClaimTemplates: [
        { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], ...size, ...className } },
      ],
    },
  };
}

/** Pods start anew when the credentials or the configuration change. */
function podTemplate(cluster: PostgresCluster) {
  const { image, credentialsRevision, parameters } = cluster.spec;
  const annotations = {
    [CREDENTIALS_REVISION]: String(credentialsRevision),
    "example.com/parameters": JSON.stringify(parameters),
  };
  const secretKeyRef = { name: `${nameOf(cluster)}-credentials`, key: "password" };
  return {
    metadata: { labels: labelsOf(cluster), annotations },
    spec: {
      containers: [
        {
          name: "postgres",
          image,
          ports: [{ name: "postgres", containerPort: PORT }],
          env: [{ name: "POSTGRES_PASSWORD", valueFrom: { secretKeyRef } }],
          readinessProbe: { exec: { command: ["pg_isready"] } },
          volumeMounts: [
            { name: "data", mountPath: "/var/lib/postgresql/data" },
            { name: "config", mountPath: "/etc/postgresql" },
          ],
        },
      ],
      volumes: [{ name: "config", configMap: { name: `${nameOf(cluster)}-config` } }],
    },
  };
}

function backups(
  cluster: PostgresCluster,
  { schedule, keep }: NonNullable<PostgresCluster["spec"]["backup"]>,
): ChildManifest {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: child(cluster, "-backup"),
    spec: {
      schedule,
      concurrencyPolicy: "Forbid",
      successfulJobsHistoryLimit: keep,
      jobTemplate: { metadata: { labels: labelsOf(cluster) }, spec: backupJob(cluster) },
    },
  };
}

/** The same for backups on schedule and the last one before the end. */
export function backupJob(cluster: PostgresCluster) {
  const host = nameOf(cluster);
  return {
    template: {
      metadata: { labels: { "app.kubernetes.io/instance": host, "app.kubernetes.io/component": "backup" } },
      spec: {
        restartPolicy: "OnFailure" as const,
        containers: [
          {
            name: "backup",
            image: cluster.spec.image,
            command: ["pg_dumpall", "--host", host, "--file", "/backup/all.sql"],
          },
        ],
      },
    },
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
