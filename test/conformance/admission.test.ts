/** Built-in admission plugins through the API. */
import { describe, expect, test } from "vitest";
import { listOf, TestApi, text } from "../api-harness.ts";
import type { Reply, ReplyBody } from "../api-harness.ts";

const PODS = "/api/v1/namespaces/default/pods";
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const LIMIT_RANGES = "/api/v1/namespaces/default/limitranges";

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly container?: object;
}

function pod(name: string, { metadata = {}, spec = {}, container = {} }: PodParts = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "web:1", ...container }], ...spec },
  };
}

function claim(name: string, spec: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  };
}

async function make(api: TestApi, path: string, object: object): Promise<ReplyBody> {
  const reply = await api.send("POST", path, object);
  expect(text(reply.body["message"]), path).toBe("");
  return reply.body;
}

function messageOf({ body }: Reply): string {
  return text(body["message"]);
}

function startWhole(): Promise<TestApi> {
  return TestApi.start(["default", "kube-system"], { disabled: [] });
}

async function startWithAccount(account: object = {}): Promise<TestApi> {
  const api = await startWhole();
  await make(api, ACCOUNTS, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
    ...account,
  });
  return api;
}

describe("NamespaceLifecycle", () => {
  test("lets nothing into a namespace that is not there, however it is written", async () => {
    await using api = await TestApi.start();
    const path = "/api/v1/namespaces/nowhere/configmaps";
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

    const created = await api.send("POST", path, map);
    const applied = await api.send("PATCH", `${path}/a?fieldManager=me`, map, {
      type: "application/apply-patch+yaml",
    });

    for (const reply of [created, applied]) {
      expect(reply.code).toBe(404);
      expect(messageOf(reply)).toBe('namespaces "nowhere" not found');
    }
  });

  test("names the cause when the namespace is being deleted", async () => {
    await using api = await TestApi.start(["default", "old"]);
    await api.send("DELETE", "/api/v1/namespaces/old");

    const reply = await api.send("POST", "/api/v1/namespaces/old/pods", pod("a"));

    expect(reply.code).toBe(403);
    expect(messageOf(reply)).toBe(
      'pods "a" is forbidden: unable to create new content in namespace old because it is being terminated',
    );
    expect(reply.body["details"]?.["causes"]).toEqual([
      {
        reason: "NamespaceTerminating",
        message: "namespace old is being terminated",
        field: "metadata.namespace",
      },
    ]);
  });

  test.each([
    ["pods/a/binding", { target: { kind: "Node", name: "n" } }],
    ["pods/a/eviction", {}],
    ["serviceaccounts/a/token", { spec: { audiences: [] } }],
  ])("%s is new content too", async (path, more) => {
    await using api = await TestApi.start(["default", "old"]);
    const pods = "/api/v1/namespaces/old/pods";
    await make(api, pods, pod("a", { metadata: { finalizers: ["example.com/held"] } }));
    await api.send("DELETE", "/api/v1/namespaces/old");

    const reply = await api.send("POST", `/api/v1/namespaces/old/${path}`, {
      metadata: { name: "a" },
      ...more,
    });

    expect(reply.code).toBe(403);
    expect(reply.body["details"]?.["causes"]).toMatchObject([{ reason: "NamespaceTerminating" }]);
  });

  test.each(["default", "kube-system", "kube-public"])("keeps %s", async (name) => {
    await using api = await TestApi.start(["default", "kube-system", "kube-public"]);

    const reply = await api.send("DELETE", `/api/v1/namespaces/${name}`);

    expect(reply.code).toBe(403);
    expect(messageOf(reply)).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  });
});

describe("LimitRanger", () => {
  const range = (limits: readonly object[]): object => ({
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "bounds" },
    spec: { limits },
  });

  test("gives containers the defaults, and notes in an annotation which", async () => {
    await using api = await TestApi.start();
    const bounds = {
      type: "Container",
      default: { cpu: "1", memory: "1Gi" },
      defaultRequest: { cpu: "100m" },
    };
    await make(api, LIMIT_RANGES, range([bounds]));

    const made = await make(api, PODS, pod("a", { container: { resources: { limits: { memory: "2Gi" } } } }));

    expect(made["spec"]?.["containers"]?.["0"]?.["resources"]).toEqual({
      limits: { cpu: "1", memory: "2Gi" },
      requests: { cpu: "100m", memory: "2Gi" },
    });
    expect(made["metadata"]?.["annotations"]).toEqual({
      "kubernetes.io/limit-ranger":
        "LimitRanger plugin set: cpu request for container main; cpu limit for container main",
    });
  });

  test.each([
    [
      { type: "Container", min: { cpu: "200m" } },
      { requests: { cpu: "100m" } },
      "minimum cpu usage per Container is 200m, but request is 100m",
    ],
    [
      { type: "Container", max: { memory: "1Gi" } },
      { limits: { memory: "2Gi" } },
      "maximum memory usage per Container is 1Gi, but limit is 2Gi",
    ],
    [{ type: "Pod", max: { cpu: "1" } }, {}, "maximum cpu usage per Pod is 1.  No limit is specified"],
    [{ type: "Pod", min: { cpu: "1" } }, {}, "minimum cpu usage per Pod is 1.  No request is specified"],
    [
      { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      { requests: { cpu: "100m" }, limits: { cpu: "500m" } },
      "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000",
    ],
    [
      { type: "Pod", max: { cpu: "1", memory: "1Gi" } },
      { limits: { cpu: "2", memory: "2Gi" } },
      "[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]",
    ],
  ])("refuses what %j does not allow", async (limits, resources, why) => {
    await using api = await TestApi.start();
    await make(api, LIMIT_RANGES, range([limits]));

    const reply = await api.send("POST", PODS, pod("a", { container: { resources } }));

    expect(reply.code).toBe(403);
    expect(messageOf(reply)).toBe(`pods "a" is forbidden: ${why}`);
  });

  test("bounds the storage of claims", async () => {
    await using api = await TestApi.start();
    await make(api, LIMIT_RANGES, range([{ type: "PersistentVolumeClaim", max: { storage: "512Mi" } }]));

    const reply = await api.send("POST", CLAIMS, claim("data"));

    expect(messageOf(reply)).toBe(
      'persistentvolumeclaims "data" is forbidden: maximum storage usage per PersistentVolumeClaim is 512Mi, but request is 1Gi',
    );
  });

  test("bounds what a pod is resized to", async () => {
    await using api = await TestApi.start();
    await make(api, LIMIT_RANGES, range([{ type: "Container", max: { cpu: "1" } }]));
    await make(api, PODS, pod("a", { container: { resources: { limits: { cpu: "1" } } } }));
    const containers = [{ name: "main", resources: { limits: { cpu: "2" }, requests: { cpu: "2" } } }];

    const reply = await api.send(
      "PATCH",
      `${PODS}/a/resize`,
      { spec: { containers } },
      { type: "application/strategic-merge-patch+json" },
    );

    expect(messageOf(reply)).toBe(
      'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
    );
  });
});

describe("ServiceAccount", () => {
  test("makes a pod run as the default account, with its pull secrets", async () => {
    await using api = await startWithAccount({ imagePullSecrets: [{ name: "registry" }] });

    const { spec } = await make(api, PODS, pod("a"));

    expect(spec).toMatchObject({
      serviceAccount: "default",
      serviceAccountName: "default",
      imagePullSecrets: [{ name: "registry" }],
    });
  });

  test("gives every container a token, the server's certificate and the namespace", async () => {
    await using api = await startWithAccount();
    const init = { name: "init", image: "web:1" };

    const { spec } = await make(api, PODS, pod("a", { spec: { initContainers: [init] } }));

    const fieldRef = { apiVersion: "v1", fieldPath: "metadata.namespace" };
    const sources = [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { items: [{ key: "ca.crt", path: "ca.crt" }], name: "kube-root-ca.crt" } },
      { downwardAPI: { items: [{ fieldRef, path: "namespace" }] } },
    ];
    const name: unknown = expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/);
    const mount = { mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", name, readOnly: true };
    expect(spec).toMatchObject({
      volumes: [{ name, projected: { defaultMode: 420, sources } }],
      containers: [{ volumeMounts: [mount] }],
      initContainers: [{ volumeMounts: [mount] }],
    });
  });

  test("adds no field that has an owner", async () => {
    await using api = await startWithAccount();

    const { metadata } = await make(api, PODS, pod("a"));

    const owned = JSON.stringify(metadata?.["managedFields"]);
    expect(owned).toMatch(/f:containers/);
    expect(owned).not.toMatch(/f:volumes|f:volumeMounts|f:tolerations|f:priority|f:serviceAccount/);
  });

  test("leaves the token away when the pod or its account says so", async () => {
    await using api = await startWithAccount({ automountServiceAccountToken: false });

    const without = await make(api, PODS, pod("a"));
    const own = await make(api, PODS, pod("b", { spec: { automountServiceAccountToken: true } }));

    expect(without["spec"]?.["volumes"]).toBeUndefined();
    expect(own["spec"]?.["volumes"]).toHaveLength(1);
  });

  test("refuses a pod whose account is not there", async () => {
    await using api = await startWithAccount();

    const reply = await api.send("POST", PODS, pod("a", { spec: { serviceAccountName: "robot" } }));

    expect(reply.code).toBe(403);
    expect(messageOf(reply)).toBe(
      'pods "a" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    );
  });

  test("waits a moment for the default account of a new namespace", async () => {
    await using api = await startWhole();
    const early = api.send("POST", PODS, pod("a"));
    await make(api, ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });

    const reply = await early;

    expect(reply.code).toBe(201);
  });

  test.each([
    [{ serviceAccountName: "default" }, "a mirror pod may not reference service accounts"],
    [{ imagePullSecrets: [{ name: "a" }] }, "a mirror pod may not reference secrets"],
  ])("refuses a mirror pod with %j", async (spec, why) => {
    await using api = await startWithAccount();
    const metadata = { annotations: { "kubernetes.io/config.mirror": "a" } };

    const reply = await api.send("POST", PODS, pod("a", { metadata, spec: { nodeName: "node-1", ...spec } }));

    expect(messageOf(reply)).toBe(`pods "a" is forbidden: ${why}`);
  });
});

describe("Priority", () => {
  const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
  const priorityClass = (name: string, value: number, more: object = {}): object => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    ...more,
  });

  test("reads number and policy off the class, and off the default one where none is named", async () => {
    await using api = await TestApi.start();
    const plain = await make(api, PODS, pod("plain"));
    await make(api, CLASSES, priorityClass("high", 1000, { preemptionPolicy: "Never" }));
    await make(api, CLASSES, priorityClass("usual", 10, { globalDefault: true }));

    const high = await make(api, PODS, pod("high", { spec: { priorityClassName: "high" } }));
    const usual = await make(api, PODS, pod("usual"));

    expect(plain["spec"]).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
    expect(high["spec"]).toMatchObject({ priority: 1000, preemptionPolicy: "Never" });
    expect(usual["spec"]).toMatchObject({ priority: 10, priorityClassName: "usual" });
  });

  test("refuses a class that is not there, and a number that is not the class's", async () => {
    await using api = await TestApi.start();

    const unknown = await api.send("POST", PODS, pod("a", { spec: { priorityClassName: "high" } }));
    const wrong = await api.send("POST", PODS, pod("a", { spec: { priority: 7 } }));

    expect(messageOf(unknown)).toBe('pods "a" is forbidden: no PriorityClass with name high was found');
    expect(messageOf(wrong)).toBe(
      'pods "a" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
  });

  test("keeps the number when a pod is sent again as it was first written", async () => {
    await using api = await TestApi.start();
    await make(api, PODS, pod("a"));

    const reply = await api.send("PUT", `${PODS}/a`, pod("a", { metadata: { labels: { app: "web" } } }));

    expect(reply.code).toBe(200);
    expect(reply.body["spec"]).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  });
});

test("DefaultTolerationSeconds gives pods five minutes, unless they say something themselves", async () => {
  await using api = await TestApi.start();
  const own = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" };

  const plain = await make(api, PODS, pod("plain"));
  const patient = await make(api, PODS, pod("patient", { spec: { tolerations: [own] } }));

  const brief = (key: string): object => ({
    effect: "NoExecute",
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    tolerationSeconds: 300,
  });
  expect(plain["spec"]?.["tolerations"]).toEqual([brief("not-ready"), brief("unreachable")]);
  expect(patient["spec"]?.["tolerations"]).toEqual([own, brief("unreachable")]);
});

test("TaintNodesByCondition keeps pods off a node that is new", async () => {
  await using api = await startWhole();

  const node = await make(api, "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });

  expect(node["spec"]?.["taints"]).toEqual([{ effect: "NoSchedule", key: "node.kubernetes.io/not-ready" }]);
});

describe("classes and storage", () => {
  const storageClass = (name: string, more: object = {}, mark = "true"): object => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name, annotations: { "storageclass.kubernetes.io/is-default-class": mark } },
    provisioner: "example.com/disk",
    ...more,
  });
  const STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses";

  test("DefaultStorageClass gives a claim the default class, and none to one that wants none", async () => {
    await using api = await TestApi.start();
    await make(api, STORAGE_CLASSES, storageClass("slow", {}, "false"));
    await make(api, STORAGE_CLASSES, storageClass("fast"));

    const plain = await make(api, CLAIMS, claim("plain"));
    const bare = await make(api, CLAIMS, claim("bare", { storageClassName: "" }));

    expect(plain["spec"]?.["storageClassName"]).toBe("fast");
    expect(bare["spec"]?.["storageClassName"]).toBe("");
  });

  test("StorageObjectInUseProtection holds claims, volumes and their classes from the start", async () => {
    await using api = await startWhole();

    const held = await make(api, CLAIMS, claim("data"));
    const volume = await make(api, "/api/v1/persistentvolumes", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "disk" },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
    });
    const attributes = await make(api, "/apis/storage.k8s.io/v1/volumeattributesclasses", {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttributesClass",
      metadata: { name: "gold" },
      driverName: "disks.example.com",
      parameters: { iops: "9000" },
    });

    expect(attributes["metadata"]?.["finalizers"]).toEqual(["kubernetes.io/vac-protection"]);
    expect(held["metadata"]?.["finalizers"]).toEqual(["kubernetes.io/pvc-protection"]);
    expect(volume["metadata"]?.["finalizers"]).toEqual(["kubernetes.io/pv-protection"]);
  });

  test("PersistentVolumeClaimResize lets a bound claim grow where its class can", async () => {
    await using api = await TestApi.start();
    const sizes = { resources: { requests: { storage: "2Gi" } } };
    const grow = (name: string): Promise<Reply> =>
      api.send("PATCH", `${CLAIMS}/${name}`, { spec: sizes }, { type: "application/merge-patch+json" });
    await make(api, STORAGE_CLASSES, storageClass("rigid"));
    await make(api, STORAGE_CLASSES, storageClass("elastic", { allowVolumeExpansion: true }));
    for (const name of ["rigid", "elastic"]) {
      const spec = { storageClassName: name, volumeName: `disk-${name}` };
      await make(api, CLAIMS, claim(name, spec));
    }

    const unbound = await grow("elastic");
    for (const name of ["rigid", "elastic"]) {
      const status = { phase: "Bound", capacity: { storage: "1Gi" } };
      await api.send(
        "PATCH",
        `${CLAIMS}/${name}/status`,
        { status },
        { type: "application/merge-patch+json" },
      );
    }

    expect(messageOf(unbound)).toContain("bound");
    expect(messageOf(await grow("rigid"))).toBe(
      'persistentvolumeclaims "rigid" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
    expect((await grow("elastic")).code).toBe(200);
  });

  test("DefaultIngressClass gives an Ingress the default class", async () => {
    await using api = await TestApi.start();
    await make(api, "/apis/networking.k8s.io/v1/ingressclasses", {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "edge", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
      spec: { controller: "example.com/edge" },
    });

    const made = await make(api, "/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web" },
      spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
    });

    expect(made["spec"]?.["ingressClassName"]).toBe("edge");
  });
});

describe("RuntimeClass", () => {
  const CLASSES = "/apis/node.k8s.io/v1/runtimeclasses";
  const boxed = {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: { name: "boxed" },
    handler: "boxed",
    overhead: { podFixed: { cpu: "250m", memory: "64Mi" } },
    scheduling: { nodeSelector: { boxes: "yes" }, tolerations: [{ key: "boxes", operator: "Exists" }] },
  };

  test("adds what the runtime needs to a pod, and where it is", async () => {
    await using api = await TestApi.start();
    await make(api, CLASSES, boxed);

    const made = await make(api, PODS, pod("a", { spec: { runtimeClassName: "boxed" } }));

    expect(made["spec"]?.["overhead"]).toEqual({ cpu: "250m", memory: "64Mi" });
    expect(made["spec"]?.["nodeSelector"]).toEqual({ boxes: "yes" });
    expect(made["spec"]?.["tolerations"]).toContainEqual({ key: "boxes", operator: "Exists" });
  });

  test("accepts very many tolerations unchanged, and delays no other request", async () => {
    await using api = await TestApi.start();
    await make(api, CLASSES, {
      ...boxed,
      scheduling: { tolerations: [{ key: "boxes", operator: "Exists" }] },
    });
    const tolerations = Array.from({ length: 10_000 }, (_, at) => ({ key: `k${at}`, operator: "Exists" }));

    const made = await make(api, PODS, pod("a", { spec: { runtimeClassName: "boxed", tolerations } }));

    const all = listOf<{ key: string }>(made["spec"]?.["tolerations"]);
    const own = all.filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
    expect(own).toEqual([...tolerations, { key: "boxes", operator: "Exists" }]);
  });

  test("says no toleration twice: the wider of two stays", async () => {
    await using api = await TestApi.start();
    const everything = { operator: "Exists", effect: "NoSchedule" };
    const scheduling = { tolerations: [{ key: "boxes", operator: "Exists" }, everything] };
    await make(api, CLASSES, { ...boxed, scheduling });
    const narrow = { key: "boxes", operator: "Equal", value: "big", effect: "NoExecute" };
    const brief = { key: "boxes", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
    const other = { key: "other", operator: "Equal", value: "1" };

    const spec = { runtimeClassName: "boxed", tolerations: [narrow, brief, other, everything] };
    const made = await make(api, PODS, pod("a", { spec }));

    const tolerations = listOf<{ key?: string }>(made["spec"]?.["tolerations"]);
    expect(tolerations.filter(({ key = "" }) => !key.startsWith("node.kubernetes.io/"))).toEqual([
      other,
      everything,
      { key: "boxes", operator: "Exists" },
    ]);
  });

  test.each([
    [{ runtimeClassName: "other" }, 'pod rejected: RuntimeClass "other" not found'],
    [
      { runtimeClassName: "boxed", nodeSelector: { boxes: "no" } },
      "conflict: runtimeClass.scheduling.nodeSelector[boxes] = yes; pod.spec.nodeSelector[boxes] = no",
    ],
    [
      { runtimeClassName: "boxed", overhead: { cpu: "1" } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { overhead: { cpu: "1" } },
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ],
  ])("refuses a pod with %j", async (spec, why) => {
    await using api = await TestApi.start();
    await make(api, CLASSES, boxed);

    const reply = await api.send("POST", PODS, pod("a", { spec }));

    expect(reply.code).toBe(403);
    expect(messageOf(reply)).toBe(`pods "a" is forbidden: ${why}`);
  });
});

test("a key in matchLabelKeys may be the pod's own, and may not be in the selector too", async () => {
  await using api = await TestApi.start();
  const metadata = { labels: { app: "web", revision: "1" } };
  const spread = (labelSelector: object): object => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector,
        matchLabelKeys: ["revision"],
      },
    ],
  });
  const near = (labelSelector: object): object => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "zone", labelSelector, matchLabelKeys: ["revision"], mismatchLabelKeys: ["app"] },
        ],
      },
    },
  });
  const own = { matchLabels: { team: "a" } };
  const twice = { matchLabels: { revision: "1" } };

  for (const [i, rule] of [spread, near].entries()) {
    const good = await api.send("POST", PODS, pod(`good-${i}`, { metadata, spec: rule(own) }));
    const bad = await api.send("POST", PODS, pod(`bad-${i}`, { metadata, spec: rule(twice) }));

    expect(messageOf(good)).toBe("");
    expect(messageOf(bad)).toContain("exists in both matchLabelKeys and labelSelector");
  }
});
