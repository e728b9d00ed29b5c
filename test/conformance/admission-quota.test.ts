/** Quota admission through the API. Tests write the status of quotas themselves, because no controller runs here. */
import { describe, expect, test } from "vitest";
import { TestApi, text } from "../api-harness.ts";
import type { Reply, ReplyBody } from "../api-harness.ts";

const CORE = "/api/v1/namespaces/default";
const QUOTAS = `${CORE}/resourcequotas`;
const PODS = `${CORE}/pods`;
const MERGE = { type: "application/merge-patch+json" };

type Amounts = Readonly<Record<string, string>>;

async function bound(api: TestApi, hard: Amounts, spec: object = {}, name = "q"): Promise<void> {
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec: { hard, ...spec } };
  expect((await api.send("POST", QUOTAS, quota)).code).toBe(201);
  const used = Object.fromEntries(Object.keys(hard).map((key) => [key, "0"]));
  const reply = await api.send("PATCH", `${QUOTAS}/${name}/status`, { status: { hard, used } }, MERGE);
  expect(reply.code).toBe(200);
}

async function usedOf(api: TestApi, name = "q"): Promise<ReplyBody | undefined> {
  const { body } = await api.send("GET", `${QUOTAS}/${name}`);
  return body["status"]?.["used"];
}

function pod(name: string, resources: object = {}, spec: object = {}): object {
  const containers = [{ name: "c", image: "web:1", resources }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers, ...spec } };
}

function service(name: string, type: string): object {
  const spec = { type, ports: [{ port: 80 }], selector: { app: "web" } };
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
}

function claim(name: string, size: string): object {
  const spec = {
    storageClassName: "fast",
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: size } },
  };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec };
}

function create(api: TestApi, object: object, plural: string): Promise<Reply> {
  return api.send("POST", `${CORE}/${plural}`, object);
}

function messageOf({ body }: Reply): string {
  return text(body["message"]);
}

describe("a quota", () => {
  test("counts devices by their class", async () => {
    await using api = await TestApi.start();
    const name = "gpu.deviceclass.resource.k8s.io/devices";
    await bound(api, { [name]: "3" });
    const exactly = { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 };
    const claimed = (claim: string): Promise<Reply> =>
      api.send("POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", {
        apiVersion: "resource.k8s.io/v1",
        kind: "ResourceClaim",
        metadata: { name: claim },
        spec: { devices: { requests: [{ name: "r", exactly }] } },
      });

    const first = await claimed("a");
    const more = await claimed("b");

    expect([first.code, more.code]).toEqual([201, 403]);
    expect(await usedOf(api)).toEqual({ [name]: "2" });
    expect(messageOf(more)).toBe(
      `resourceclaims.resource.k8s.io "b" is forbidden: exceeded quota: q, requested: ${name}=2, used: ${name}=2, limited: ${name}=3`,
    );
  });

  test("lets in as much as it allows, and says of what there is too little", async () => {
    await using api = await TestApi.start();
    await bound(api, { pods: "2", "requests.cpu": "1", cpu: "1" });

    const replies = [];
    for (const name of ["a", "b", "c"])
      replies.push(await create(api, pod(name, { requests: { cpu: "300m" } }), "pods"));
    const large = await create(api, pod("d", { requests: { cpu: "2" } }), "pods");

    expect(replies.map(({ code }) => code)).toEqual([201, 201, 403]);
    expect(messageOf(replies[2] as Reply)).toBe(
      'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    );
    expect(messageOf(large)).toBe(
      'pods "d" is forbidden: exceeded quota: q, requested: cpu=2,pods=1,requests.cpu=2, used: cpu=600m,pods=2,requests.cpu=600m, limited: cpu=1,pods=2,requests.cpu=1',
    );
    expect(await usedOf(api)).toEqual({ cpu: "600m", pods: "2", "requests.cpu": "600m" });
  });

  test("is never overdrawn by requests that come at once", async () => {
    await using api = await TestApi.start();
    await bound(api, { pods: "5" });

    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const replies = await Promise.all(names.map((name) => create(api, pod(name), "pods")));

    expect(replies.filter(({ code }) => code === 201)).toHaveLength(5);
    expect(await usedOf(api)).toEqual({ pods: "5" });
  });

  test("makes every container say how much of what is bounded it wants", async () => {
    await using api = await TestApi.start();
    await bound(api, { "limits.cpu": "1", "requests.memory": "1Gi" });

    const reply = await create(api, pod("a", { requests: { memory: "1Mi" } }), "pods");

    expect(messageOf(reply)).toBe('pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c');
  });

  test("takes nothing for a dry run, and refuses it all the same", async () => {
    await using api = await TestApi.start();
    await bound(api, { pods: "1" });

    const dry = await api.send("POST", `${PODS}?dryRun=All`, pod("a"));
    const used = await usedOf(api);
    await create(api, pod("a"), "pods");
    const refused = await api.send("POST", `${PODS}?dryRun=All`, pod("b"));

    expect(dry.code).toBe(201);
    expect(used).toEqual({ pods: "0" });
    expect(refused.code).toBe(403);
  });

  test("gets back what is deleted and what a pod that ended used", async () => {
    await using api = await TestApi.start();
    await bound(api, { pods: "2", "count/pods": "9" });
    for (const name of ["a", "b"]) await create(api, pod(name), "pods");

    await api.send("DELETE", `${PODS}/a`);
    await api.send("PATCH", `${PODS}/b/status`, { status: { phase: "Succeeded" } }, MERGE);

    expect(await usedOf(api)).toEqual({ pods: "0", "count/pods": "1" });
  });

  test("bounds nothing before its status is known", async () => {
    await using api = await TestApi.start();
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "new" },
      spec: { hard: { pods: "0" } },
    };
    await api.send("POST", QUOTAS, quota);

    const reply = await create(api, pod("a"), "pods");

    expect(reply.code).toBe(201);
  });

  test("is charged together with all others of the namespace, or not at all", async () => {
    await using api = await TestApi.start();
    await bound(api, { pods: "5" }, {}, "large");
    await bound(api, { pods: "1" }, {}, "small");

    await create(api, pod("a"), "pods");
    await create(api, pod("b"), "pods");

    expect(await usedOf(api, "large")).toEqual({ pods: "1" });
    expect(await usedOf(api, "small")).toEqual({ pods: "1" });
  });
});

describe("a quota counts", () => {
  test("objects of every resource by its name", async () => {
    await using api = await TestApi.start();
    await bound(api, { "count/deployments.apps": "0", secrets: "1", "count/configmaps": "1" });
    const template = {
      metadata: { labels: { app: "a" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { selector: { matchLabels: { app: "a" } }, template },
    };

    const refused = await api.send("POST", "/apis/apps/v1/namespaces/default/deployments", deployment);
    await create(api, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }, "secrets");
    await create(api, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" } }, "configmaps");

    expect(messageOf(refused)).toBe(
      'deployments.apps "web" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0',
    );
    expect(await usedOf(api)).toEqual({
      "count/configmaps": "1",
      "count/deployments.apps": "0",
      secrets: "1",
    });
  });

  test("node ports and load balancers, also when a Service changes its type", async () => {
    await using api = await TestApi.start();
    const addresses = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "kubernetes" },
      spec: { cidrs: ["10.96.0.0/12"] },
    };
    await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", addresses);
    await bound(api, { services: "5", "services.nodeports": "2", "services.loadbalancers": "1" });
    await create(api, service("a", "ClusterIP"), "services");
    await create(api, service("b", "LoadBalancer"), "services");
    const change = (type: string): Promise<Reply> =>
      api.send("PATCH", `${CORE}/services/a`, { spec: { type } }, MERGE);

    const refused = await change("LoadBalancer");
    const changed = await change("NodePort");
    const used = await usedOf(api);
    await change("ClusterIP");

    expect(messageOf(refused)).toContain("exceeded quota: q, requested: services.loadbalancers=1");
    expect(changed.code).toBe(200);
    expect(used).toEqual({ services: "2", "services.loadbalancers": "1", "services.nodeports": "2" });
    expect(await usedOf(api)).toMatchObject({ "services.nodeports": "1" });
  });

  test("storage in all and by class, and what a claim grows by", async () => {
    await using api = await TestApi.start();
    const byClass = "fast.storageclass.storage.k8s.io/requests.storage";
    await bound(api, { "requests.storage": "3Gi", [byClass]: "3Gi", persistentvolumeclaims: "5" });
    const elastic = {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "fast" },
      provisioner: "example.com/disk",
      allowVolumeExpansion: true,
    };
    await api.send("POST", "/apis/storage.k8s.io/v1/storageclasses", elastic);
    await create(api, { ...claim("a", "1Gi") }, "persistentvolumeclaims");
    const path = `${CORE}/persistentvolumeclaims/a`;
    await api.send("PATCH", path, { spec: { volumeName: "disk" } }, MERGE);
    const status = { phase: "Bound", capacity: { storage: "1Gi" } };
    await api.send("PATCH", `${path}/status`, { status }, MERGE);
    const grow = (storage: string): Promise<Reply> =>
      api.send("PATCH", path, { spec: { resources: { requests: { storage } } } }, MERGE);

    const grown = await grow("2Gi");
    const refused = await grow("4Gi");

    expect(messageOf(grown)).toBe("");
    expect(messageOf(refused)).toBe(
      `persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: ${byClass}=2Gi,requests.storage=2Gi, used: ${byClass}=2Gi,requests.storage=2Gi, limited: ${byClass}=3Gi,requests.storage=3Gi`,
    );
    expect(await usedOf(api)).toEqual({
      [byClass]: "2Gi",
      persistentvolumeclaims: "1",
      "requests.storage": "2Gi",
    });
  });

  test("what a pod is resized to", async () => {
    await using api = await TestApi.start();
    await bound(api, { "requests.cpu": "1" });
    await create(api, pod("a", { requests: { cpu: "500m" } }), "pods");
    const resize = (cpu: string): Promise<Reply> =>
      api.send(
        "PATCH",
        `${PODS}/a/resize`,
        { spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] } },
        { type: "application/strategic-merge-patch+json" },
      );

    const refused = await resize("2");
    const resized = await resize("800m");

    expect(messageOf(refused)).toBe(
      'pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=500m, limited: requests.cpu=1',
    );
    expect(messageOf(resized)).toBe("");
    expect(await usedOf(api)).toEqual({ "requests.cpu": "800m" });
  });

  test("extended resources, huge pages, ephemeral storage and what the runtime takes", async () => {
    await using api = await TestApi.start();
    const hard = {
      "requests.example.com/gpu": "4",
      "hugepages-2Mi": "8Mi",
      "requests.ephemeral-storage": "1Gi",
      "limits.ephemeral-storage": "2Gi",
      "requests.memory": "1Gi",
    };
    await bound(api, hard);
    const runtime = {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "boxed" },
      handler: "boxed",
      overhead: { podFixed: { memory: "64Mi" } },
    };
    await api.send("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime);
    const limits = {
      "example.com/gpu": "2",
      "hugepages-2Mi": "4Mi",
      memory: "128Mi",
      "ephemeral-storage": "1Gi",
    };
    const requests = { ...limits, "ephemeral-storage": "512Mi" };

    const reply = await create(api, pod("a", { limits, requests }, { runtimeClassName: "boxed" }), "pods");

    expect(messageOf(reply)).toBe("");
    expect(await usedOf(api)).toEqual({
      "requests.example.com/gpu": "2",
      "hugepages-2Mi": "4Mi",
      "requests.ephemeral-storage": "512Mi",
      "limits.ephemeral-storage": "1Gi",
      "requests.memory": "192Mi",
    });
  });
});

describe("the scope of a quota", () => {
  const small = { requests: { cpu: "100m" } };
  const far = {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "zone", labelSelector: {}, namespaces: ["other"] },
        ],
      },
    },
  };
  const classed = (operator: string, values?: readonly string[]): object => ({
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator, ...(values && { values }) }],
    },
  });
  const deadline = { activeDeadlineSeconds: 60 };
  const high = { priorityClassName: "high" };

  test.each([
    ["Terminating", { scopes: ["Terminating"] }, pod("in", {}, deadline), pod("out")],
    ["NotTerminating", { scopes: ["NotTerminating"] }, pod("in"), pod("out", {}, deadline)],
    ["BestEffort", { scopes: ["BestEffort"] }, pod("in"), pod("out", small)],
    ["NotBestEffort", { scopes: ["NotBestEffort"] }, pod("in", small), pod("out")],
    ["CrossNamespacePodAffinity", { scopes: ["CrossNamespacePodAffinity"] }, pod("in", {}, far), pod("out")],
    ["PriorityClass, some", classed("In", ["high"]), pod("in", {}, high), pod("out")],
    ["PriorityClass, others", classed("NotIn", ["high"]), pod("in"), pod("out", {}, high)],
    ["PriorityClass, any", classed("Exists"), pod("in", {}, high), pod("out")],
  ])("%s tells the pods that it is about from the others", async (_, spec, inside, outside) => {
    await using api = await TestApi.start();
    const priorityClass = {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "high" },
      value: 10,
    };
    await api.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priorityClass);
    await bound(api, { pods: "1" }, spec);

    const other = await create(api, outside, "pods");
    const usedByOther = await usedOf(api);
    const own = await create(api, inside, "pods");

    expect([messageOf(other), messageOf(own)]).toEqual(["", ""]);
    expect(usedByOther).toEqual({ pods: "0" });
    expect(await usedOf(api)).toEqual({ pods: "1" });
  });

  test("VolumeAttributesClass is about claims", async () => {
    await using api = await TestApi.start();
    const scopeSelector = {
      matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["gold"] }],
    };
    await bound(api, { persistentvolumeclaims: "1" }, { scopeSelector });
    const gold = claim("gold", "1Gi") as { spec: object };

    await create(api, claim("plain", "1Gi"), "persistentvolumeclaims");
    const made = { ...gold, spec: { ...gold.spec, volumeAttributesClassName: "gold" } };
    await create(api, made, "persistentvolumeclaims");

    expect(await usedOf(api)).toEqual({ persistentvolumeclaims: "1" });
  });
});
