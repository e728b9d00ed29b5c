/** Objects that are stuck, each in another way, for one cluster. */
import type { ApiObject } from "../../src/api/api-object.ts";

type Part = Readonly<Record<string, unknown>>;
export type AnyObject = ApiObject & Part;

const SIMULATED = "simulated.setpoint.dev/";
const PROBE = { httpGet: { path: "/h", port: 80 }, periodSeconds: 1 };

function template(name: string, spec: Part, container: Part, annotations: Part): Part {
  return {
    metadata: { labels: { app: name }, annotations },
    spec: { containers: [{ name: "app", image: "app:1", ...container }], ...spec },
  };
}

interface PodParts {
  readonly namespace?: string;
  readonly spec?: Part;
  readonly container?: Part;
  readonly annotations?: Part;
}

function podOf(name: string, parts: PodParts = {}): AnyObject {
  const { namespace = "default", spec = {}, container = {}, annotations = {} } = parts;
  const { metadata, ...rest } = template(name, spec, container, annotations);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, ...(metadata as Part) },
    ...rest,
  };
}

function workloadOf(kind: string, name: string, parts: PodParts & { readonly more?: Part } = {}): AnyObject {
  const { namespace = "default", spec = {}, container = {}, annotations = {}, more = {} } = parts;
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: { app: name } },
      template: template(name, spec, container, annotations),
      ...(kind !== "DaemonSet" && { replicas: 2 }),
      ...(kind === "StatefulSet" && { serviceName: name }),
      ...more,
    },
  };
}

function jobSpec(annotations: Part = {}, spec: Part = {}): Part {
  return {
    template: {
      metadata: { annotations },
      spec: { restartPolicy: "Never", containers: [{ name: "job", image: "job:1" }], ...spec },
    },
  };
}

function objectOf(kind: string, name: string, rest: Part & { readonly namespace?: string }): AnyObject {
  const { namespace = "default", apiVersion = "v1", ...parts } = rest;
  return { apiVersion: String(apiVersion), kind, metadata: { name, namespace }, ...parts };
}

const CRASH = { "exit-after": "1s", "exit-code": "3" };

const annotated = (values: Readonly<Record<string, string>>): Part =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${SIMULATED}${name}`, value]));

const claim = (name: string, spec: Part): AnyObject =>
  objectOf("PersistentVolumeClaim", name, {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });

const service = (name: string, spec: Part): AnyObject =>
  objectOf("Service", name, { spec: { ports: [{ port: 80 }], ...spec } });

const autoscaler = (name: string, target: string): AnyObject =>
  objectOf("HorizontalPodAutoscaler", name, {
    apiVersion: "autoscaling/v2",
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: target },
      maxReplicas: 3,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ],
    },
  });

const namespace = (name: string, labels: Part = {}): AnyObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: labels as Readonly<Record<string, string>> },
});

const definition = (plural: string): AnyObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural, kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});

const volume = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
const requests = (amounts: Part): Part => ({ resources: { requests: amounts } });

export const SITUATIONS: readonly AnyObject[] = [
  ...["memory", "range", "leaving"].map((name) => namespace(name)),
  namespace("strict", { "pod-security.kubernetes.io/enforce": "restricted" }),
  objectOf("ResourceQuota", "q", { namespace: "memory", spec: { hard: { "requests.memory": "1Gi" } } }),
  workloadOf("Deployment", "large", { namespace: "memory", container: requests({ memory: "600Mi" }) }),
  workloadOf("Deployment", "unstated", { namespace: "memory" }),
  objectOf("LimitRange", "range", {
    namespace: "range",
    spec: { limits: [{ type: "Container", min: { cpu: "100m" } }] },
  }),
  workloadOf("Deployment", "tiny", {
    namespace: "range",
    container: { resources: { requests: { cpu: "10m" }, limits: { cpu: "200m" } } },
  }),
  workloadOf("Deployment", "privileged", {
    namespace: "strict",
    container: { securityContext: { privileged: true } },
  }),
  podOf("selector", { spec: { nodeSelector: { disk: "ssd" } } }),
  podOf("huge", { container: requests({ cpu: "99" }) }),
  podOf("gated", { spec: { schedulingGates: [{ name: "example.com/wait" }] } }),
  claim("no-class", { storageClassName: "fast" }),
  objectOf("PersistentVolume", "pv", {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/x" },
      storageClassName: "manual",
    },
  }),
  claim("wrong-mode", { storageClassName: "manual", accessModes: ["ReadWriteMany"] }),
  objectOf("StorageClass", "late", {
    apiVersion: "storage.k8s.io/v1",
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  }),
  claim("late", { storageClassName: "late" }),
  podOf("uses-late", {
    spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "late" } }] },
    container: volume,
  }),
  objectOf("ConfigMap", "settings", { data: { a: "1" } }),
  podOf("lacks-key", {
    container: { env: [{ name: "B", valueFrom: { configMapKeyRef: { name: "settings", key: "b" } } }] },
  }),
  podOf("lacks-file", {
    spec: { volumes: [{ name: "v", configMap: { name: "settings", items: [{ key: "z", path: "z" }] } }] },
    container: volume,
  }),
  podOf("no-login", {
    spec: { imagePullSecrets: [{ name: "login" }] },
    container: { image: "app:nonexistent" },
  }),
  workloadOf("Deployment", "crashing", { annotations: annotated(CRASH) }),
  workloadOf("Deployment", "unready", {
    annotations: annotated({ "ready-after": "never" }),
    container: { readinessProbe: PROBE },
  }),
  workloadOf("Deployment", "unhealthy", {
    annotations: annotated({ "unhealthy-after": "2s" }),
    container: { livenessProbe: { ...PROBE, failureThreshold: 1 } },
  }),
  workloadOf("Deployment", "fine"),
  service("unready", { selector: { app: "unready" } }),
  service("mistyped", { selector: { app: "unredy" } }),
  service("wrong-port", { selector: { app: "fine" }, ports: [{ port: 80, targetPort: "http" }] }),
  service("cloud", { selector: { app: "fine" }, type: "LoadBalancer" }),
  service("fine", { selector: { app: "fine" } }),
  objectOf("Ingress", "front", {
    apiVersion: "networking.k8s.io/v1",
    spec: { defaultBackend: { service: { name: "fin", port: { number: 80 } } } },
  }),
  autoscaler("no-request", "fine"),
  autoscaler("no-target", "absent"),
  objectOf("Job", "failing", {
    apiVersion: "batch/v1",
    spec: { ...jobSpec(annotated({ "exit-code": "2" })), backoffLimit: 0 },
  }),
  objectOf("Job", "suspended", { apiVersion: "batch/v1", spec: { ...jobSpec(), suspend: true } }),
  objectOf("Job", "done", { apiVersion: "batch/v1", spec: jobSpec() }),
  objectOf("Job", "unplaced", { apiVersion: "batch/v1", spec: jobSpec({}, { nodeSelector: { a: "b" } }) }),
  objectOf("CronJob", "suspended", {
    apiVersion: "batch/v1",
    spec: { schedule: "* * * * *", suspend: true, jobTemplate: { spec: jobSpec() } },
  }),
  objectOf("CronJob", "never", {
    apiVersion: "batch/v1",
    spec: { schedule: "0 0 30 2 *", jobTemplate: { spec: jobSpec() } },
  }),
  workloadOf("StatefulSet", "db", {
    annotations: annotated({ "ready-after": "never" }),
    container: { readinessProbe: PROBE },
  }),
  workloadOf("DaemonSet", "nowhere", { spec: { nodeSelector: { no: "such" } } }),
  {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.away.example.com" },
    spec: {
      group: "away.example.com",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "absent" },
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "left", namespace: "leaving", finalizers: ["example.com/clean"] },
  },
  definition("widgets"),
  definition("gadgets"),
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "team" },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] },
        ],
      },
      validations: [
        {
          expression:
            "!('app' in object.metadata.?labels.orValue({})) || object.metadata.labels.app != 'refused'",
          message: "a label is missing",
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "team" },
    spec: { policyName: "team", validationActions: ["Deny"] },
  },
  objectOf("Lease", "operator", {
    apiVersion: "coordination.k8s.io/v1",
    spec: { holderIdentity: "op-1", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" },
  }),
];

/** Made after the policy is in force. */
export const LATER: readonly AnyObject[] = [workloadOf("Deployment", "refused")];
