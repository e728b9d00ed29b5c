/** For each stored kind the smallest object that Kubernetes accepts, with one change of each part that clients can write. */

export interface MinimalObject {
  readonly name: string;
  /** Members except apiVersion, kind and metadata. */
  readonly body: Fields;
  /** A merge patch of the main resource, outside metadata, that validation allows. */
  readonly change?: Fields;
  /** Patch of the status subresource. */
  readonly status?: Fields;
  /** Values of the kind's field selectors once `status` is written. */
  readonly fields?: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

const CONTAINERS = [{ name: "app", image: "web:1" }];
const LABELS = { app: "web" };
const POD_TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } };
const ONCE_TEMPLATE = { spec: { containers: CONTAINERS, restartPolicy: "Never" } };
const SELECTOR = { matchLabels: LABELS };
const TIME = "2026-01-01T00:00:00Z";
const CONDITION = {
  type: "Checked",
  status: "True",
  reason: "Test",
  message: "ok",
  lastTransitionTime: TIME,
};
const CONDITIONS = { conditions: [CONDITION] };
const UID = "0b9a1c5e-6f52-4a4c-9d0e-7e6c4a1f2b3d";
const SIGNER = "example.com/signer";
const RULES = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
const ROLE_REF = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const SUBJECTS = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "me" }];

/** DER of a key made for these tests: `openssl req -new -subj /CN=minimal`, and a self-signed certificate. */
const SIGNING_REQUEST_DER =
  "MIHNMHQCAQAwEjEQMA4GA1UEAwwHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAyotWBRxc8xZKsJRzkoZCVKnZuBpg4ix8fzRjcO" +
  "kx43gnWZsJqzX4o9o9ZVU1YqxToAQL8tUzObo49BsG08grGgADAKBggqhkjOPQQDAgNJADBGAiEAonmMBCfueKf9yio2guUJY84iBvs//d3GAmGc" +
  "4JrSXXECIQDpO7eI1Krl+yTjI1z/CfGosjdhI//4nb3568xJMkKT2g==";
const CERTIFICATE_DER =
  "MIIBfDCCASGgAwIBAgIUAub73qxdwbDXe1xXj3+8aOByoEIwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHbWluaW1hbDAgFw0yNjExMTUwNjEyMzha" +
  "GA8yMTI2MTAyMjA2MTIzOFowEjEQMA4GA1UEAwwHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAyotWBRxc8xZKsJRzkoZCVKnZuB" +
  "pg4ix8fzRjcOkx43gnWZsJqzX4o9o9ZVU1YqxToAQL8tUzObo49BsG08grGjUzBRMB0GA1UdDgQWBBTr9Ia5nHviBQHKs2GKPlK8YWpH8DAfBgNV" +
  "HSMEGDAWgBTr9Ia5nHviBQHKs2GKPlK8YWpH8DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCtAWgK65BCwTyzbuz/CHfPlMvm" +
  "aex/s17Vzb007l1wUgIhAIUmPfnuC0Ko2IDJIAzlaxpc3EWRQL0O6qvpYc9FWnjP";

function pem(label: string, der: string): string {
  const lines = der.match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

const EVENT_SUBJECT = { kind: "Pod", apiVersion: "v1", name: "web", namespace: "default", uid: UID };

const MUTATING_POLICY: MinimalObject = {
  name: "minimal",
  body: {
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: {
        resourceRules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
        ],
      },
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
    },
  },
  change: { spec: { failurePolicy: "Ignore" } },
};
const MUTATING_BINDING: MinimalObject = {
  name: "minimal",
  body: { spec: { policyName: "policy" } },
  change: { spec: { matchResources: { matchPolicy: "Exact" } } },
};
const WEBHOOK = {
  name: "hook.example.com",
  clientConfig: { url: "https://hook.example.com/" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const WEBHOOKS: MinimalObject = {
  name: "minimal",
  body: { webhooks: [WEBHOOK] },
  change: { webhooks: [{ ...WEBHOOK, timeoutSeconds: 5 }] },
};

const AUTOSCALER: MinimalObject = {
  name: "minimal",
  body: {
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
  },
  change: { spec: { maxReplicas: 5 } },
  status: { currentReplicas: 1, desiredReplicas: 1 },
};
const TRUST_BUNDLE: MinimalObject = {
  name: "example.com:signer:minimal",
  body: { spec: { signerName: SIGNER, trustBundle: pem("CERTIFICATE", CERTIFICATE_DER) } },
  fields: { "spec.signerName": SIGNER },
};
const LEASE_CANDIDATE: MinimalObject = {
  name: "minimal",
  body: {
    spec: {
      leaseName: "leader",
      binaryVersion: "1.36.0",
      emulationVersion: "1.36.0",
      strategy: "OldestEmulationVersion",
    },
  },
  change: { spec: { renewTime: "2026-01-01T00:00:00.000000Z" } },
};
const IP_ADDRESS: MinimalObject = {
  name: "10.1.2.3",
  body: { spec: { parentRef: { resource: "services", namespace: "default", name: "web" } } },
};
const SERVICE_CIDR: MinimalObject = {
  name: "minimal",
  body: { spec: { cidrs: ["10.200.0.0/16"] } },
  status: CONDITIONS,
};
const ATTRIBUTES_CLASS: MinimalObject = {
  name: "minimal",
  body: { driverName: "csi.example.com", parameters: { speed: "fast" } },
};

const DEVICE_REQUESTS = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] };
const OLD_DEVICE_REQUESTS = { requests: [{ name: "gpu", deviceClassName: "gpu" }] };
const DRIVER = "gpu.example.com";
const DEVICE_CLASS: MinimalObject = {
  name: "minimal",
  body: { spec: { selectors: [{ cel: { expression: "true" } }] } },
  change: { spec: { selectors: [{ cel: { expression: "false" } }] } },
};
const TAINT_RULE: MinimalObject = {
  name: "minimal",
  body: {
    spec: { deviceSelector: { driver: DRIVER }, taint: { key: "example.com/broken", effect: "NoSchedule" } },
  },
  change: { spec: { taint: { effect: "NoExecute" } } },
  status: CONDITIONS,
};

function resourceClaim(devices: Fields): MinimalObject {
  return {
    name: "minimal",
    body: { spec: { devices } },
    status: {
      allocation: {
        devices: { results: [{ request: "gpu", driver: DRIVER, pool: "pool", device: "gpu-0" }] },
      },
    },
  };
}

function claimTemplate(devices: Fields): MinimalObject {
  return { name: "minimal", body: { spec: { spec: { devices } } } };
}

function resourceSlice(device: (name: string) => Fields): MinimalObject {
  const pool = { name: "pool", generation: 1, resourceSliceCount: 1 };
  return {
    name: "minimal",
    body: { spec: { driver: DRIVER, nodeName: "node-1", pool, devices: [device("gpu-0")] } },
    change: { spec: { devices: [device("gpu-1")] } },
    fields: { "spec.driver": DRIVER, "spec.nodeName": "node-1" },
  };
}

const RESOURCE_SLICE = resourceSlice((name) => ({ name }));

function workload(more: Fields = {}): MinimalObject {
  return {
    name: "minimal",
    body: { spec: { selector: SELECTOR, template: POD_TEMPLATE, ...more } },
    change: { spec: { minReadySeconds: 5 } },
    status: { replicas: 1 },
  };
}

/** By apiVersion and kind. */
export const MINIMAL_OBJECTS: Readonly<Record<string, MinimalObject>> = {
  "v1 ConfigMap": { name: "minimal", body: { data: { a: "1" } }, change: { data: { b: "2" } } },
  "v1 Endpoints": {
    name: "minimal",
    body: { subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] },
    change: { subsets: [] },
  },
  "v1 Event": {
    name: "minimal",
    body: {
      involvedObject: { ...EVENT_SUBJECT, fieldPath: "spec.containers{app}", resourceVersion: "7" },
      reason: "Started",
      type: "Normal",
      message: "it began",
      source: { component: "kubelet" },
      reportingComponent: "kubelet",
    },
    change: { count: 2 },
    fields: {
      "involvedObject.apiVersion": "v1",
      "involvedObject.fieldPath": "spec.containers{app}",
      "involvedObject.kind": "Pod",
      "involvedObject.name": "web",
      "involvedObject.namespace": "default",
      "involvedObject.resourceVersion": "7",
      "involvedObject.uid": UID,
      reason: "Started",
      reportingComponent: "kubelet",
      source: "kubelet",
      type: "Normal",
    },
  },
  "v1 LimitRange": {
    name: "minimal",
    body: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } },
    change: { spec: { limits: [] } },
  },
  "v1 Namespace": {
    name: "minimal",
    body: {},
    status: { conditions: [{ ...CONDITION, type: "NamespaceContentRemaining" }] },
    fields: { "status.phase": "Active" },
  },
  "v1 Node": {
    name: "minimal",
    body: {},
    change: { spec: { unschedulable: true } },
    status: { conditions: [{ type: "Ready", status: "True" }] },
    fields: { "spec.unschedulable": "false" },
  },
  "v1 PersistentVolumeClaim": {
    name: "minimal",
    body: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    status: { conditions: [{ type: "Resizing", status: "True" }] },
  },
  "v1 PersistentVolume": {
    name: "minimal",
    body: {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/data" },
      },
    },
    change: { spec: { persistentVolumeReclaimPolicy: "Delete" } },
    status: { message: "checked" },
  },
  "v1 Pod": {
    name: "minimal",
    body: { spec: { containers: CONTAINERS, nodeName: "node-1", serviceAccountName: "robot" } },
    change: { spec: { activeDeadlineSeconds: 60 } },
    status: { phase: "Running", podIP: "10.1.2.3", podIPs: [{ ip: "10.1.2.3" }] },
    fields: {
      "spec.host": "node-1",
      "spec.hostNetwork": "false",
      "spec.nodeName": "node-1",
      "spec.restartPolicy": "Always",
      "spec.schedulerName": "default-scheduler",
      "spec.serviceAccountName": "robot",
      "status.nominatedNodeName": "",
      "status.phase": "Running",
      "status.podIP": "10.1.2.3",
    },
  },
  "v1 PodTemplate": {
    name: "minimal",
    body: { template: POD_TEMPLATE },
    change: { template: { metadata: { labels: { tier: "front" } } } },
  },
  "v1 ReplicationController": {
    name: "minimal",
    body: { spec: { selector: LABELS, template: POD_TEMPLATE } },
    change: { spec: { minReadySeconds: 5 } },
    status: { replicas: 1 },
    fields: { "status.replicas": "1" },
  },
  "v1 ResourceQuota": {
    name: "minimal",
    body: { spec: { hard: { pods: "5" } } },
    change: { spec: { hard: { pods: "6" } } },
    status: { hard: { pods: "5" }, used: { pods: "1" } },
  },
  "v1 Secret": {
    name: "minimal",
    body: { data: { a: "MQ==" } },
    change: { data: { b: "Mg==" } },
    fields: { type: "Opaque" },
  },
  "v1 ServiceAccount": { name: "minimal", body: {}, change: { automountServiceAccountToken: false } },
  "v1 Service": {
    name: "minimal",
    body: { spec: { selector: LABELS, ports: [{ port: 80 }], clusterIP: "10.96.0.77" } },
    change: { spec: { sessionAffinity: "ClientIP" } },
    status: CONDITIONS,
    fields: { "spec.clusterIP": "10.96.0.77", "spec.type": "ClusterIP" },
  },

  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy": MUTATING_POLICY,
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding": MUTATING_BINDING,
  "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration": WEBHOOKS,
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy": {
    name: "minimal",
    body: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
          ],
        },
        validations: [{ expression: "true" }],
      },
    },
    change: { spec: { failurePolicy: "Ignore" } },
    status: CONDITIONS,
  },
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": {
    name: "minimal",
    body: { spec: { policyName: "policy", validationActions: ["Deny"] } },
    change: { spec: { validationActions: ["Warn"] } },
  },
  "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": WEBHOOKS,
  "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy": MUTATING_POLICY,
  "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding": MUTATING_BINDING,
  "admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy": MUTATING_POLICY,
  "admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding": MUTATING_BINDING,

  "apiextensions.k8s.io/v1 CustomResourceDefinition": {
    name: "widgets.example.com",
    body: {
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    },
    change: { spec: { names: { shortNames: ["wd"] } } },
    status: { conditions: [{ ...CONDITION, type: "Established" }] },
  },
  "apiregistration.k8s.io/v1 APIService": {
    name: "v1.example.com",
    body: {
      spec: {
        group: "example.com",
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { namespace: "default", name: "api" },
        insecureSkipTLSVerify: true,
      },
    },
    change: { spec: { versionPriority: 16 } },
    status: { conditions: [{ ...CONDITION, type: "Available" }] },
  },

  "apps/v1 ControllerRevision": {
    name: "minimal",
    body: { revision: 1, data: { spec: { replicas: 1 } } },
    change: { revision: 2 },
  },
  "apps/v1 DaemonSet": {
    ...workload(),
    status: {
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 0,
    },
  },
  "apps/v1 Deployment": workload(),
  "apps/v1 ReplicaSet": workload(),
  "apps/v1 StatefulSet": workload({ serviceName: "web" }),

  "autoscaling/v1 HorizontalPodAutoscaler": AUTOSCALER,
  "autoscaling/v2 HorizontalPodAutoscaler": AUTOSCALER,

  "batch/v1 CronJob": {
    name: "minimal",
    body: { spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: ONCE_TEMPLATE } } } },
    change: { spec: { suspend: true } },
    status: { lastScheduleTime: TIME },
  },
  "batch/v1 Job": {
    name: "minimal",
    body: { spec: { template: ONCE_TEMPLATE } },
    change: { spec: { parallelism: 2 } },
    status: { active: 1, startTime: TIME },
    fields: { "status.successful": "0" },
  },

  "certificates.k8s.io/v1 CertificateSigningRequest": {
    name: "minimal",
    body: {
      spec: {
        request: Buffer.from(pem("CERTIFICATE REQUEST", SIGNING_REQUEST_DER)).toString("base64"),
        signerName: SIGNER,
        usages: ["client auth"],
      },
    },
    status: { conditions: [{ ...CONDITION, type: "Failed" }] },
    fields: { "spec.signerName": SIGNER },
  },
  "certificates.k8s.io/v1alpha1 ClusterTrustBundle": TRUST_BUNDLE,
  "certificates.k8s.io/v1beta1 ClusterTrustBundle": TRUST_BUNDLE,
  "certificates.k8s.io/v1beta1 PodCertificateRequest": {
    name: "minimal",
    body: {
      spec: {
        signerName: SIGNER,
        podName: "web",
        podUID: UID,
        serviceAccountName: "robot",
        serviceAccountUID: UID,
        nodeName: "node-1",
        nodeUID: UID,
        stubPKCS10Request: SIGNING_REQUEST_DER,
      },
    },
    status: { conditions: [{ ...CONDITION, type: "Denied" }] },
    fields: { "spec.signerName": SIGNER, "spec.nodeName": "node-1", "spec.podName": "web" },
  },

  "coordination.k8s.io/v1 Lease": {
    name: "minimal",
    body: { spec: { holderIdentity: "me", leaseDurationSeconds: 15 } },
    change: { spec: { holderIdentity: "you" } },
  },
  "coordination.k8s.io/v1alpha2 LeaseCandidate": LEASE_CANDIDATE,
  "coordination.k8s.io/v1beta1 LeaseCandidate": LEASE_CANDIDATE,

  "discovery.k8s.io/v1 EndpointSlice": {
    name: "minimal",
    body: { addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] },
    change: { ports: [{ port: 81 }] },
  },
  "events.k8s.io/v1 Event": {
    name: "minimal",
    body: {
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/controller",
      reportingInstance: "one",
      action: "Start",
      reason: "Started",
      type: "Normal",
      regarding: { ...EVENT_SUBJECT, fieldPath: "spec.containers{app}", resourceVersion: "7" },
    },
    change: { series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" } },
    fields: {
      "regarding.apiVersion": "v1",
      "regarding.fieldPath": "spec.containers{app}",
      "regarding.kind": "Pod",
      "regarding.name": "web",
      "regarding.namespace": "default",
      "regarding.resourceVersion": "7",
      "regarding.uid": UID,
      reason: "Started",
      reportingController: "example.com/controller",
      type: "Normal",
    },
  },

  "flowcontrol.apiserver.k8s.io/v1 FlowSchema": {
    name: "minimal",
    body: {
      spec: {
        priorityLevelConfiguration: { name: "level" },
        matchingPrecedence: 1000,
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "me" } }],
            resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] }],
          },
        ],
      },
    },
    change: { spec: { matchingPrecedence: 2000 } },
    status: { conditions: [{ ...CONDITION, type: "Dangling" }] },
  },
  "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration": {
    name: "minimal",
    body: { spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } } },
    change: { spec: { limited: { nominalConcurrencyShares: 5 } } },
    status: { conditions: [{ ...CONDITION, type: "Checked" }] },
  },
  "internal.apiserver.k8s.io/v1alpha1 StorageVersion": {
    name: "example.com.widgets",
    body: { spec: {} },
    status: {
      storageVersions: [
        { apiServerID: "one", encodingVersion: "v1", decodableVersions: ["v1"], servedVersions: ["v1"] },
      ],
      commonEncodingVersion: "v1",
    },
  },

  "networking.k8s.io/v1 IngressClass": {
    name: "minimal",
    body: { spec: { controller: "example.com/ingress" } },
    change: {
      spec: { parameters: { apiGroup: "example.com", kind: "Settings", name: "one", scope: "Cluster" } },
    },
  },
  "networking.k8s.io/v1 Ingress": {
    name: "minimal",
    body: { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } },
    change: { spec: { ingressClassName: "front" } },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  },
  "networking.k8s.io/v1 IPAddress": IP_ADDRESS,
  "networking.k8s.io/v1 NetworkPolicy": {
    name: "minimal",
    body: { spec: { podSelector: {} } },
    change: { spec: { podSelector: { matchLabels: LABELS } } },
  },
  "networking.k8s.io/v1 ServiceCIDR": SERVICE_CIDR,
  "networking.k8s.io/v1beta1 IPAddress": IP_ADDRESS,
  "networking.k8s.io/v1beta1 ServiceCIDR": SERVICE_CIDR,

  "node.k8s.io/v1 RuntimeClass": {
    name: "minimal",
    body: { handler: "simulated" },
    change: { overhead: { podFixed: { cpu: "10m" } } },
  },
  "policy/v1 PodDisruptionBudget": {
    name: "minimal",
    body: { spec: { minAvailable: 1, selector: SELECTOR } },
    change: { spec: { minAvailable: 2 } },
    status: { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
  },

  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": {
    name: "minimal",
    body: { roleRef: ROLE_REF, subjects: SUBJECTS },
    change: { subjects: [] },
  },
  "rbac.authorization.k8s.io/v1 ClusterRole": {
    name: "minimal",
    body: { rules: RULES },
    change: { rules: [] },
  },
  "rbac.authorization.k8s.io/v1 RoleBinding": {
    name: "minimal",
    body: { roleRef: ROLE_REF, subjects: SUBJECTS },
    change: { subjects: [] },
  },
  "rbac.authorization.k8s.io/v1 Role": { name: "minimal", body: { rules: RULES }, change: { rules: [] } },

  "resource.k8s.io/v1 DeviceClass": DEVICE_CLASS,
  "resource.k8s.io/v1 ResourceClaim": resourceClaim(DEVICE_REQUESTS),
  "resource.k8s.io/v1 ResourceClaimTemplate": claimTemplate(DEVICE_REQUESTS),
  "resource.k8s.io/v1 ResourceSlice": RESOURCE_SLICE,
  "resource.k8s.io/v1alpha3 DeviceTaintRule": TAINT_RULE,
  "resource.k8s.io/v1alpha3 ResourcePoolStatusRequest": {
    name: "minimal",
    body: { spec: { driver: DRIVER } },
    status: { conditions: [{ ...CONDITION, type: "Complete" }], poolCount: 0 },
  },
  "resource.k8s.io/v1beta1 DeviceClass": DEVICE_CLASS,
  "resource.k8s.io/v1beta1 ResourceClaim": resourceClaim(OLD_DEVICE_REQUESTS),
  "resource.k8s.io/v1beta1 ResourceClaimTemplate": claimTemplate(OLD_DEVICE_REQUESTS),
  "resource.k8s.io/v1beta1 ResourceSlice": resourceSlice((name) => ({ name, basic: {} })),
  "resource.k8s.io/v1beta2 DeviceClass": DEVICE_CLASS,
  "resource.k8s.io/v1beta2 DeviceTaintRule": TAINT_RULE,
  "resource.k8s.io/v1beta2 ResourceClaim": resourceClaim(DEVICE_REQUESTS),
  "resource.k8s.io/v1beta2 ResourceClaimTemplate": claimTemplate(DEVICE_REQUESTS),
  "resource.k8s.io/v1beta2 ResourceSlice": RESOURCE_SLICE,

  "scheduling.k8s.io/v1 PriorityClass": {
    name: "minimal",
    body: { value: 1000 },
    change: { description: "for tests" },
  },
  "scheduling.k8s.io/v1alpha2 PodGroup": {
    name: "minimal",
    body: { spec: { schedulingPolicy: { basic: {} } } },
    status: CONDITIONS,
  },
  "scheduling.k8s.io/v1alpha2 Workload": {
    name: "minimal",
    body: { spec: { podGroupTemplates: [{ name: "main", schedulingPolicy: { basic: {} } }] } },
  },

  "storage.k8s.io/v1 CSIDriver": {
    name: "csi.example.com",
    body: { spec: {} },
    change: { spec: { requiresRepublish: true } },
  },
  "storage.k8s.io/v1 CSINode": {
    name: "minimal",
    body: { spec: { drivers: [{ name: "csi.example.com", nodeID: "one" }] } },
    change: { spec: { drivers: [] } },
  },
  "storage.k8s.io/v1 CSIStorageCapacity": {
    name: "minimal",
    body: { storageClassName: "fast" },
    change: { capacity: "1Gi" },
  },
  "storage.k8s.io/v1 StorageClass": {
    name: "minimal",
    body: { provisioner: "csi.example.com" },
    change: { allowVolumeExpansion: true },
  },
  "storage.k8s.io/v1 VolumeAttachment": {
    name: "minimal",
    body: {
      spec: { attacher: "csi.example.com", nodeName: "node-1", source: { persistentVolumeName: "disk" } },
    },
    status: { attached: true },
  },
  "storage.k8s.io/v1 VolumeAttributesClass": ATTRIBUTES_CLASS,
  "storage.k8s.io/v1beta1 VolumeAttributesClass": ATTRIBUTES_CLASS,
  "storagemigration.k8s.io/v1beta1 StorageVersionMigration": {
    name: "minimal",
    body: { spec: { resource: { group: "apps", resource: "deployments" } } },
    status: { conditions: [{ ...CONDITION, type: "Running" }] },
  },
};
