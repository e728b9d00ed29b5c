import { describe, expect, test } from "vitest";
import type { TokenReview } from "../../src/api/generated/types/authentication-v1.ts";
import { Job } from "../../src/api/generated/types/batch-v1.ts";
import { CertificateSigningRequest } from "../../src/api/generated/types/certificates-v1.ts";
import {
  ConfigMap,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from "../../src/api/generated/types/core-v1.ts";
import { ServiceCIDR } from "../../src/api/generated/types/networking-v1.ts";
import { ClusterRole } from "../../src/api/generated/types/rbac-v1.ts";
import { timeText } from "../../src/api/values/time.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { builtInLoops } from "../../src/cluster/loops/loops.ts";
import { rootCaController } from "../../src/controllers/root-ca.ts";
import { tokenSecretController } from "../../src/controllers/token-secret.ts";
import { SAMPLE_REQUESTS } from "../../src/server/admission/sample-requests.ts";

const SPEC = { containers: [{ name: "main", image: "main:1" }] };

test("nodes are told how long what they know of Secrets lasts", async () => {
  await using cluster = await startCluster({ clock: "virtual", loops: ["ttl-controller"], nodes: 0 });
  const ttl = "node.alpha.kubernetes.io/ttl";
  await cluster.client(Node).create({ metadata: { name: "new" } });
  await cluster.client(Node).create({ metadata: { name: "strange", annotations: { [ttl]: "long" } } });

  await cluster.settle();

  expect(cluster.objects(Node).map(({ metadata }) => metadata.annotations?.[ttl])).toEqual(["0", "0"]);
});

describe("PodGC", () => {
  const POD_GC = ["pod-garbage-collector-controller"];

  test("ends pods whose node has been gone for a while, and says why", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: POD_GC, nodes: 0 });
    const finalizers = ["example.com/look"];
    await createPod(cluster, { name: "stranded", nodeName: "gone", finalizers });
    await cluster.clock.advance("30s");
    expect((await cluster.client(Pod).get({ name: "stranded" })).metadata.deletionTimestamp).toBeUndefined();

    await cluster.clock.advance("1m");

    const { metadata, status } = await cluster.client(Pod).get({ name: "stranded" });
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(status.phase).toBe("Failed");
    expect(status.conditions?.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
      observedGeneration: 1,
    });
  });

  test("leaves pods alone whose node comes in time", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: POD_GC, nodes: 0 });
    await createPod(cluster, { name: "early", nodeName: "late" });
    await cluster.clock.advance("30s");
    await cluster.client(Node).create({ metadata: { name: "late" } });
    await cluster.clock.advance("5m");

    expect(podNames(cluster)).toEqual(["early"]);
  });

  test("ends deleted pods of nodes that are out of service, not of others", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: POD_GC, nodes: 0 });
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" as const }];
    await cluster.client(Node).create({ metadata: { name: "broken" }, spec: { taints } });
    await cluster.client(Node).create({ metadata: { name: "slow" } });
    for (const nodeName of ["broken", "slow"]) {
      await createPod(cluster, { name: nodeName, nodeName });
      await createPod(cluster, { name: `${nodeName}-wanted`, nodeName });
      await cluster.client(Pod).delete({ name: nodeName });
    }
    await cluster.clock.advance("1m");

    expect(podNames(cluster)).toEqual(["broken-wanted", "slow", "slow-wanted"]);
  });
});

describe("finished Jobs", () => {
  test("go when their time is over, and not before", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      loops: ["ttl-after-finished-controller", "garbage-collector-controller"],
      nodes: 0,
    });
    for (const name of ["short", "long", "kept"]) {
      const ttl = { short: 60, long: 7200, kept: undefined }[name];
      const template = { spec: { ...SPEC, restartPolicy: "Never" as const } };
      const job = await cluster
        .client(Job)
        .create({ metadata: { name }, spec: { template, ttlSecondsAfterFinished: ttl } });
      await finish(cluster, job);
    }
    await cluster.settle();
    expect(jobNames(cluster)).toEqual(["kept", "long", "short"]);

    await cluster.clock.advance("61s");
    await cluster.settle();
    expect(jobNames(cluster)).toEqual(["kept", "long"]);

    await cluster.clock.advance("2h");
    await cluster.settle();
    expect(jobNames(cluster)).toEqual(["kept"]);
  });
});

describe("namespaces", () => {
  test("have a default account and the root certificate, which come back when they are deleted or changed", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      loops: ["serviceaccount-controller"],
      controllers: [rootCaController("-----BEGIN CERTIFICATE-----\n")],
      nodes: 0,
    });
    await cluster.client(Namespace).create({ metadata: { name: "new" } });
    await cluster.settle();
    await cluster.client(ServiceAccount).delete({ namespace: "new", name: "default" });
    await cluster.client(ConfigMap).delete({ namespace: "default", name: "kube-root-ca.crt" });
    const changes = { data: { "ca.crt": "forged", other: "x" } };
    const key = { namespace: "new", name: "kube-root-ca.crt" };
    await cluster.client(ConfigMap).patch(key, { type: "merge", changes });
    await cluster.settle();

    const namespaces = cluster.objects(Namespace).map(({ metadata }) => metadata.name);
    expect(cluster.objects(ServiceAccount).map(({ metadata }) => metadata.namespace)).toEqual(namespaces);
    const published = cluster.objects(ConfigMap);
    expect(published.map(({ metadata }) => metadata.namespace)).toEqual(namespaces);
    for (const { data, metadata } of published) {
      expect(data).toEqual({ "ca.crt": "-----BEGIN CERTIFICATE-----\n" });
      expect(metadata.annotations).toHaveProperty(["kubernetes.io/description"]);
    }
  });

  test("have an empty root certificate where every machine trusts the server's, and token Secrets none", async () => {
    await using cluster = await startCluster({ clock: "virtual", loops: "none", nodes: 0 });
    const names = ["root-ca-certificate-publisher-controller", "serviceaccount-token-controller"];
    cluster.run(builtInLoops(names, { ca: "" }));
    await cluster.client(ServiceAccount).create({ metadata: { name: "robot", namespace: "default" } });
    const annotations = { "kubernetes.io/service-account.name": "robot" };
    const type = "kubernetes.io/service-account-token";
    await cluster.client(Secret).create({ metadata: { name: "token", annotations }, type });
    await cluster.settle();

    const [published] = cluster.objects(ConfigMap, "default");
    expect(published).toMatchObject({ metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": "" } });
    const [secret] = cluster.objects(Secret, "default");
    expect(Object.keys(secret?.data ?? {}).toSorted()).toEqual(["namespace", "token"]);
  });
});

describe("aggregated ClusterRoles", () => {
  test("have the rules of all roles that they choose, each once, in order of names", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      loops: ["clusterrole-aggregation-controller"],
      nodes: 0,
    });
    const rule = (resource: string): object => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
    const labels = { part: "yes" };
    await cluster.client(ClusterRole).create({
      metadata: { name: "whole", labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      rules: [rule("forged")],
    });
    await cluster
      .client(ClusterRole)
      .create({ metadata: { name: "b", labels }, rules: [rule("pods"), rule("nodes")] });
    await cluster
      .client(ClusterRole)
      .create({ metadata: { name: "a", labels }, rules: [rule("secrets"), rule("pods")] });
    await cluster.client(ClusterRole).create({ metadata: { name: "c" }, rules: [rule("events")] });
    await cluster.settle();
    expect(await rulesOf(cluster)).toEqual(["secrets", "pods", "nodes"]);

    await cluster
      .client(ClusterRole)
      .patch({ name: "c" }, { type: "merge", changes: { metadata: { labels } } });
    await cluster.client(ClusterRole).delete({ name: "a" });
    await cluster.settle();
    expect(await rulesOf(cluster)).toEqual(["pods", "nodes", "events"]);
  });

  test("take very many rules in good time", async () => {
    await using cluster = await startCluster({
      clock: "virtual",
      loops: ["clusterrole-aggregation-controller"],
      nodes: 0,
    });
    const labels = { part: "yes" };
    const rules = Array.from({ length: 8000 }, (_, at) => ({
      apiGroups: [""],
      resources: [`r${String(at)}`],
      verbs: ["get"],
    }));
    await cluster.client(ClusterRole).create({ metadata: { name: "many", labels }, rules });
    await cluster.client(ClusterRole).create({
      metadata: { name: "whole" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      rules: [],
    });
    const start = process.cpuUsage();

    await cluster.settle();

    const { user } = process.cpuUsage(start);
    expect(await rulesOf(cluster)).toHaveLength(8000);
    expect(user / 1000).toBeLessThan(4000);
  });
});

describe("token Secrets", () => {
  const SECRET = "kubernetes.io/service-account-token";

  test("are filled with a token that is good for as long as the Secret and its account are there", async () => {
    const controllers = [tokenSecretController({ ca: "PEM" })];
    await using cluster = await startCluster({ clock: "virtual", loops: "none", controllers, nodes: 0 });
    const account = await cluster.client(ServiceAccount).create({ metadata: { name: "robot" } });
    const annotations = { "kubernetes.io/service-account.name": "robot" };
    await cluster.client(Secret).create({ metadata: { name: "lasting", annotations }, type: SECRET });
    await cluster.settle();

    const { data = {}, metadata } = await cluster.client(Secret).get({ name: "lasting" });
    expect(metadata.annotations?.["kubernetes.io/service-account.uid"]).toBe(account.metadata.uid);
    expect([data["namespace"], data["ca.crt"]].map(decoded)).toEqual(["default", "PEM"]);
    const token = decoded(data["token"]);
    expect(lifetimeYears(token)).toBeGreaterThan(100);
    expect(await review(cluster, token)).toBe("system:serviceaccount:default:robot");

    await cluster.client(ServiceAccount).delete({ name: "robot" });
    await cluster.client(ServiceAccount).create({ metadata: { name: "robot" } });
    await cluster.settle();
    expect(cluster.objects(Secret)).toEqual([]);
    expect(await review(cluster, token)).toBeUndefined();
  });
});

describe("what expires", () => {
  test("requests for certificates go a day after they were made, or an hour after they were answered", async () => {
    const loops = ["certificatesigningrequest-cleaner-controller"];
    await using cluster = await startCluster({ clock: "virtual", loops, nodes: 0 });
    for (const name of ["denied", "pending"]) await createRequest(cluster, name);
    const denied = await cluster.client(CertificateSigningRequest).get({ name: "denied" });
    const conditions = [{ type: "Denied", status: "True", reason: "No", message: "" }];
    await cluster
      .client(CertificateSigningRequest)
      .subresource("approval")
      .update(denied, { ...denied, status: { conditions } });
    await cluster.clock.advance("59m");
    expect(requestNames(cluster)).toEqual(["denied", "pending"]);

    await cluster.clock.advance("2m");
    expect(requestNames(cluster)).toEqual(["pending"]);

    await cluster.clock.advance("24h");
    expect(requestNames(cluster)).toEqual([]);
  });

  test("tokens of nodes go when they say so", async () => {
    const loops = ["token-cleaner-controller"];
    await using cluster = await startCluster({ clock: "virtual", loops, nodes: 0 });
    const now = cluster.clock.now();
    const times = {
      soon: new Date(now + 60_000).toISOString(),
      later: "2999-01-01T00:00:00Z",
      never: "",
      odd: "x",
    };
    for (const [name, expiration] of Object.entries(times)) {
      const stringData = expiration === "" ? {} : { expiration };
      const metadata = { namespace: "kube-system", name };
      await cluster.client(Secret).create({ metadata, type: "bootstrap.kubernetes.io/token", stringData });
    }
    await cluster.clock.advance("2m");

    expect(cluster.objects(Secret).map(({ metadata }) => metadata.name)).toEqual(["later", "never"]);
  });
});

describe("what machines are told that want to join", () => {
  test("is signed anew when it changes, and with each token for as long as it is there", async () => {
    const loops = ["bootstrap-signer-controller"];
    await using cluster = await startCluster({ clock: "virtual", loops, nodes: 0 });
    const place = { namespace: "kube-public", name: "cluster-info" };
    const secret = { namespace: "kube-system", name: "bootstrap-token-abc123" };
    await cluster.client(ConfigMap).create({ metadata: place, data: { kubeconfig: "one" } });
    await cluster.client(Secret).create({
      metadata: secret,
      type: "bootstrap.kubernetes.io/token",
      stringData: { "token-id": "abc123", "token-secret": "s", "usage-bootstrap-signing": "true" },
    });
    await cluster.settle();
    const first = (await cluster.client(ConfigMap).get(place)).data?.["jws-kubeconfig-abc123"];

    const changes = { data: { kubeconfig: "two" } };
    await cluster.client(ConfigMap).patch(place, { type: "merge", changes });
    await cluster.settle();
    const second = (await cluster.client(ConfigMap).get(place)).data?.["jws-kubeconfig-abc123"];
    await cluster.client(Secret).delete(secret);
    await cluster.settle();

    expect(first).toMatch(/^[\w-]+\.\.[\w-]+$/);
    expect(second).not.toBe(first);
    expect((await cluster.client(ConfigMap).get(place)).data).toEqual({ kubeconfig: "two" });
  });
});

describe("a ServiceCIDR", () => {
  test("is ready, and when deleted stays while a Service has an address of it", async () => {
    const loops = ["service-cidr-controller"];
    await using cluster = await startCluster({ clock: "virtual", loops, nodes: 0 });
    await cluster
      .client(ServiceCIDR)
      .create({ metadata: { name: "extra" }, spec: { cidrs: ["10.200.0.0/24"] } });
    await cluster.settle();
    expect(await readiness(cluster)).toEqual(["True", "Kubernetes Service CIDR is ready"]);
    await cluster.client(Service).create({
      metadata: { name: "user" },
      spec: { clusterIP: "10.200.0.9", ports: [{ port: 80 }] },
    });

    await cluster.client(ServiceCIDR).delete({ name: "extra" });
    await cluster.clock.advance("1m");
    expect(await readiness(cluster)).toEqual([
      "False",
      "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
    ]);

    await cluster.client(Service).delete({ name: "user" });
    await cluster.settle();
    expect(cluster.objects(ServiceCIDR).map(({ metadata }) => metadata.name)).toEqual(["kubernetes"]);
  });
});

describe("all of them together", () => {
  test("do nothing once everything is in order", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 0 });
    await cluster.settle();
    const before = await revision(cluster);

    await cluster.clock.advance("1h");

    expect(await revision(cluster)).toBe(before);
  });
});

interface PodPlace {
  readonly name: string;
  readonly nodeName: string;
  readonly finalizers?: readonly string[];
}

async function createPod(cluster: Cluster, { name, nodeName, finalizers = [] }: PodPlace): Promise<void> {
  await cluster.client(Pod).create({ metadata: { name, finalizers }, spec: { ...SPEC, nodeName } });
}

function podNames(cluster: Cluster): readonly string[] {
  return cluster.objects(Pod).map(({ metadata }) => metadata.name);
}

function jobNames(cluster: Cluster): readonly string[] {
  return cluster.objects(Job).map(({ metadata }) => metadata.name);
}

async function finish(cluster: Cluster, job: Job): Promise<void> {
  const time = timeText(cluster.clock.now());
  const condition = { status: "True", lastTransitionTime: time };
  await cluster.client(Job).updateStatus(job, {
    startTime: time,
    completionTime: time,
    succeeded: 1,
    conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({ ...condition, type })),
  });
}

async function rulesOf(cluster: Cluster): Promise<readonly (string | undefined)[]> {
  const { rules } = await cluster.client(ClusterRole).get({ name: "whole" });
  return rules.map(({ resources }) => resources?.[0]);
}

async function review(cluster: Cluster, token: string): Promise<string | undefined> {
  const path = "/apis/authentication.k8s.io/v1/tokenreviews";
  const answer = await cluster.client.request({ method: "POST", path, body: { spec: { token } } });
  return (answer as TokenReview).status.user?.username;
}

async function createRequest(cluster: Cluster, name: string): Promise<void> {
  await cluster.client(CertificateSigningRequest).create({
    metadata: { name },
    spec: {
      request: SAMPLE_REQUESTS.nodeOne,
      signerName: "example.com/signer",
      usages: ["client auth"],
    },
  });
}

function requestNames(cluster: Cluster): readonly string[] {
  return cluster.objects(CertificateSigningRequest).map(({ metadata }) => metadata.name);
}

async function readiness(cluster: Cluster): Promise<readonly (string | undefined)[]> {
  const { status } = await cluster.client(ServiceCIDR).get({ name: "extra" });
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return [ready?.status, ready?.message];
}

function lifetimeYears(token: string): number {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
    readonly exp: number;
    readonly iat: number;
  };
  return (claims.exp - claims.iat) / (365 * 24 * 3600);
}

function decoded(text: string | undefined): string {
  return Buffer.from(text ?? "", "base64").toString();
}

async function revision(cluster: Cluster): Promise<string> {
  const { metadata } = await cluster.client(ConfigMap).list();
  return metadata.resourceVersion;
}
