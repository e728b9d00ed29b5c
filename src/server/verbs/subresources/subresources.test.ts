import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { prepareApproval } from "../../../resources/certificates/certificate-signing-request.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { SAMPLE_REQUESTS } from "../../admission/sample-requests.ts";
import { ServerFixture, textAt } from "../../upkeep/fixture.ts";
import type { FixtureReply } from "../../upkeep/fixture.ts";

const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const APPLY = "application/apply-patch+yaml";

const CONTAINERS = [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } }];

const LABELS = { app: "web" };
const DEPLOYMENT = {
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } },
  },
};

async function startPod(server: ServerFixture, name: string, spec: object = {}): Promise<void> {
  const pod = { metadata: { name, labels: { app: "web" } }, spec: { containers: CONTAINERS, ...spec } };
  expect((await server.send("POST", PODS, pod)).code).toBe(201);
}

function binding(name: string, node: string): object {
  return { metadata: { name, annotations: { why: "fits" } }, target: { kind: "Node", name: node } };
}

async function runPod(server: ServerFixture, name: string): Promise<void> {
  await startPod(server, name, { nodeName: "n1" });
  const conditions = [{ type: "Ready", status: "True" }];
  await server.patch(`${PODS}/${name}/status`, { status: { phase: "Running", conditions } });
}

describe("subresources", () => {
  test("an unknown subresource is not found, an unsupported method is not allowed", async () => {
    const server = await ServerFixture.start();

    expect((await server.send("GET", `${PODS}/a/nonsense`)).code).toBe(404);
    expect((await server.send("GET", "/api/v1/namespaces/default/configmaps/a/status")).code).toBe(404);
    expect((await server.send("DELETE", `${PODS}/a/status`)).code).toBe(405);
  });
});

describe("binding", () => {
  test("a binding puts a pod on a node once", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a");

    const first = await server.send("POST", `${PODS}/a/binding`, binding("a", "n1"));
    const second = await server.send("POST", "/api/v1/namespaces/default/bindings", binding("a", "n2"));

    expect(first).toMatchObject({ code: 201, body: { kind: "Status", status: "Success" } });
    expect((await server.send("GET", `${PODS}/a`)).body).toMatchObject({
      metadata: { annotations: { why: "fits" } },
      spec: { nodeName: "n1" },
      status: { conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    expect(second.code).toBe(409);
    expect(second.body["message"]).toBe(
      'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    );
  });

  test("a binding must name its pod and a node", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a");

    expect((await server.send("POST", `${PODS}/a/binding`, binding("b", "n1"))).code).toBe(400);
    expect((await server.send("POST", `${PODS}/a/binding`, binding("a", ""))).code).toBe(422);
    expect((await server.send("POST", `${PODS}/b/binding`, binding("b", "n1"))).code).toBe(404);
  });

  test("a dry run of a binding changes nothing", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a");

    const reply = await server.send("POST", `${PODS}/a/binding?dryRun=All`, binding("a", "n1"));

    expect(reply.code).toBe(201);
    expect((await server.send("GET", `${PODS}/a`)).body["spec"]).not.toHaveProperty("nodeName");
  });
});

describe("eviction", () => {
  async function protect(server: ServerFixture, name: string, allowed: number): Promise<void> {
    const spec = { minAvailable: 1, selector: { matchLabels: { app: "web" } } };
    await server.send("POST", BUDGETS, { metadata: { name }, spec });
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: allowed,
      currentHealthy: 2,
      desiredHealthy: 2,
    };
    await server.patch(`${BUDGETS}/${name}/status`, { status: { ...status, expectedPods: 2 } });
  }
  const evict = (server: ServerFixture, name: string, more: object = {}): Promise<FixtureReply> =>
    server.send("POST", `${PODS}/${name}/eviction`, { metadata: { name }, ...more });

  test("an eviction is refused by a budget that allows no disruption", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    await protect(server, "guard", 0);

    const { code, body } = await evict(server, "a");

    expect(code).toBe(429);
    expect(body).toMatchObject({
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: "DisruptionBudget",
            message: "The disruption budget guard needs 2 healthy pods and has 2 currently",
          },
        ],
      },
    });
  });

  test("an eviction replaces the reason of an earlier DisruptionTarget condition", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a", { nodeName: "n1" });
    const before = {
      type: "DisruptionTarget",
      status: "True",
      reason: "PreemptionByScheduler",
      lastTransitionTime: "2026-01-02T03:04:05Z",
    };
    const conditions = [before, { type: "Ready", status: "True" }];
    await server.patch(`${PODS}/a/status`, { status: { phase: "Running", conditions } });

    const { code } = await evict(server, "a");

    expect(code).toBe(201);
    expect((await server.send("GET", `${PODS}/a`)).body["status"]?.["conditions"]).toMatchObject([
      { ...before, reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
      { type: "Ready" },
    ]);
  });

  test("evictions succeed while the budget allows them, then are refused", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    await runPod(server, "b");
    await protect(server, "guard", 1);

    const replies = [await evict(server, "a"), await evict(server, "b")];

    expect(replies.map(({ code }) => code)).toEqual([201, 429]);
    expect((await server.send("GET", `${BUDGETS}/guard`)).body["status"]).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: expect.any(String) as string },
    });
    expect((await server.send("GET", `${PODS}/a`)).body).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30 },
      status: {
        conditions: [{ type: "Ready" }, { type: "DisruptionTarget", reason: "EvictionByEvictionAPI" }],
      },
    });
  });

  test("an eviction of a pod with two budgets fails", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    await protect(server, "one", 1);
    await protect(server, "two", 1);

    const { code, body } = await evict(server, "a");

    expect([code, body["reason"], body["message"]]).toEqual([
      500,
      undefined,
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    ]);
  });

  test("an eviction of a pod that does not run skips the budget and obeys the delete options", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a");
    await protect(server, "guard", 0);
    const stranger = { deleteOptions: { preconditions: { uid: "somebody-else" } } };

    expect((await evict(server, "a", stranger)).code).toBe(409);
    expect((await evict(server, "a", { deleteOptions: { dryRun: ["All"] } })).code).toBe(201);
    expect((await server.send("GET", `${PODS}/a`)).code).toBe(200);
    expect((await evict(server, "a")).code).toBe(201);
    expect((await server.send("GET", `${PODS}/a`)).code).toBe(404);
  });

  test("an eviction obeys the preconditions on uid and resourceVersion", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    const { uid, resourceVersion } = (await server.send("GET", `${PODS}/a`)).body["metadata"] ?? {};
    const named = (preconditions: object): object => ({ deleteOptions: { preconditions } });

    expect((await evict(server, "a", named({ resourceVersion: "1" }))).code).toBe(409);
    expect((await evict(server, "a", named({ uid: "somebody-else" }))).code).toBe(409);
    expect((await server.send("GET", `${PODS}/a`)).body["metadata"]).toMatchObject({ resourceVersion });
    expect((await evict(server, "a", named({ uid, resourceVersion }))).code).toBe(201);
    expect((await server.send("GET", `${PODS}/a`)).body["metadata"]).toMatchObject({
      deletionGracePeriodSeconds: 30,
    });
  });

  test("an eviction with a wrong uid is refused with the text of a deletion", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");

    const answer = await evict(server, "a", { deleteOptions: { preconditions: { uid: "other" } } });

    expect(answer.code).toBe(409);
    expect(answer.body["message"]).toMatch(
      /^Operation cannot be fulfilled on Pod "a": the UID in the precondition \(other\) does not match the UID in record \(.+\)\. The object might have been deleted and then recreated$/,
    );
  });

  test("an eviction may be a policy/v1beta1 object, but of no unknown version", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    const as = (apiVersion: string): object => ({
      apiVersion,
      kind: "Eviction",
      deleteOptions: { dryRun: ["All"] },
    });

    expect((await evict(server, "a", as("policy/v1beta1"))).code).toBe(201);
    expect(await evict(server, "a", as("policy/v2"))).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining("policy/v2") as string },
    });
  });
});

describe("status", () => {
  const metadata = { labels: { seen: "1" }, annotations: { seen: "1" }, finalizers: ["a.b/c"] };
  const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
  const claim = { metadata: { name: "web" }, spec: {} };

  test.each([
    [DEPLOYMENTS, DEPLOYMENT, ["annotations", "finalizers"]],
    [claims, claim, []],
  ])("a status update of %s writes no more metadata than upstream's", async (path, object, written) => {
    const server = await ServerFixture.start();
    await server.send("POST", path, object);

    const { code, body } = await server.patch(`${path}/web/status`, { metadata });

    expect(code).toBe(200);
    const parts = Object.keys(body["metadata"] ?? {});
    expect(parts.filter((part) => part in metadata)).toEqual(written);
  });

  test("an applied status does not own fields that it cannot write", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", DEPLOYMENTS, DEPLOYMENT);
    const config = { apiVersion: "apps/v1", kind: "Deployment", metadata, status: { observedGeneration: 1 } };

    const { body } = await server.patch(`${DEPLOYMENTS}/web/status?fieldManager=me`, config, APPLY);

    const { managedFields = [] } = (body as JsonObject as ApiObject).metadata;
    const { fieldsV1 } = managedFields.find(({ manager }) => manager === "me") ?? {};
    expect(fieldsV1).toMatchObject({ "f:status": { "f:observedGeneration": {} } });
    expect(fieldsV1).not.toHaveProperty("f:metadata.f:labels");
  });
});

describe("apply to a subresource", () => {
  const owned = (body: FixtureReply["body"], wanted: string): unknown => {
    const { managedFields = [] } = (body as JsonObject as ApiObject).metadata;
    return managedFields.find(({ manager }) => manager === wanted)?.fieldsV1;
  };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { labels: { seen: "1" } } };

  test("an applied resize owns resource amounts and no other fields of its configuration", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a");
    const main = { name: "main", image: "web:2", resources: { requests: { cpu: "200m" } } };
    const path = `${PODS}/a/resize?fieldManager=me&force=true`;

    const { body } = await server.patch(path, { ...pod, spec: { containers: [main] } }, APPLY);

    const resources = { "f:requests": { "f:cpu": {} } };
    expect(owned(body, "me")).toEqual({
      "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:resources": resources } } },
    });
  });

  test("applied ephemeral containers own only themselves and cause no conflicts elsewhere", async () => {
    const server = await ServerFixture.start();
    await startPod(server, "a", { nodeName: "n1" });
    const spec = { ephemeralContainers: [{ name: "debug", image: "shell" }] };
    const path = `${PODS}/a/ephemeralcontainers?fieldManager=me`;

    const { body } = await server.patch(path, { ...pod, spec }, APPLY);
    const other = { ...pod, metadata: { labels: { seen: "2" } } };
    const labelled = await server.patch(`${PODS}/a?fieldManager=other`, other, APPLY);

    expect(Object.keys(owned(body, "me") as object)).toEqual(["f:spec"]);
    expect(labelled.code).toBe(200);
  });
});

describe("scale", () => {
  const entries = async (server: ServerFixture): Promise<unknown> =>
    (await server.send("GET", `${DEPLOYMENTS}/web`)).body["metadata"]?.["managedFields"];

  test("a scale is a view of the workload", async () => {
    const server = await ServerFixture.start();
    const made = await server.send("POST", DEPLOYMENTS, DEPLOYMENT);

    const { body } = await server.send("GET", `${DEPLOYMENTS}/web/scale`);

    expect(body).toMatchObject({ apiVersion: "autoscaling/v1", kind: "Scale" });
    expect(body["metadata"]).toEqual({
      name: "web",
      namespace: "default",
      uid: made.body["metadata"]?.["uid"],
      resourceVersion: made.body["metadata"]?.["resourceVersion"],
      creationTimestamp: made.body["metadata"]?.["creationTimestamp"],
    });
    expect(body["spec"]).toEqual({ replicas: 2 });
    expect(body["status"]).toEqual({ replicas: 0, selector: "app=web" });
  });

  test("update and patch of a scale change the replica count and own it", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", DEPLOYMENTS, DEPLOYMENT);
    const { body } = await server.send("GET", `${DEPLOYMENTS}/web/scale`);

    const updated = await server.send("PUT", `${DEPLOYMENTS}/web/scale`, { ...body, spec: { replicas: 3 } });
    const patched = await server.patch(`${DEPLOYMENTS}/web/scale`, { spec: { replicas: 4 } });
    const outdated = await server.send("PUT", `${DEPLOYMENTS}/web/scale`, { ...body, spec: { replicas: 5 } });

    expect([updated.body["spec"], patched.body["spec"]]).toEqual([{ replicas: 3 }, { replicas: 4 }]);
    expect(outdated.code).toBe(409);
    expect((await server.send("GET", `${DEPLOYMENTS}/web`)).body).toMatchObject({
      metadata: { generation: 3 },
      spec: { replicas: 4 },
    });
    expect(await entries(server)).toContainEqual(
      expect.objectContaining({
        manager: "test",
        operation: "Update",
        apiVersion: "apps/v1",
        subresource: "scale",
        fieldsV1: { "f:spec": { "f:replicas": {} } },
      }),
    );
  });

  test("an applied scale owns the replica count and conflicts with other owners", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", DEPLOYMENTS, DEPLOYMENT);
    const scale = {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "web" },
      spec: { replicas: 7 },
    };
    const at = `${DEPLOYMENTS}/web/scale?fieldManager=hand`;

    const refused = await server.patch(at, scale, APPLY);
    const forced = await server.patch(`${at}&force=true`, scale, APPLY);

    expect(refused.code).toBe(409);
    expect(refused.body["details"]?.["causes"]).toMatchObject([{ field: ".spec.replicas" }]);
    expect(forced.body["spec"]).toEqual({ replicas: 7 });
    expect(await entries(server)).toContainEqual(
      expect.objectContaining({ manager: "hand", operation: "Apply", subresource: "scale" }),
    );
  });

  test("a negative replica count is refused", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", DEPLOYMENTS, DEPLOYMENT);

    const { code, body } = await server.patch(`${DEPLOYMENTS}/web/scale`, { spec: { replicas: -1 } });

    expect(code).toBe(422);
    expect(body["message"]).toBe(
      'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });
});

describe("parts of a pod", () => {
  test("ephemeral containers are added and no other field is written", async () => {
    const server = await ServerFixture.start();
    await runPod(server, "a");
    const change = {
      metadata: { labels: { app: "other" } },
      spec: { ephemeralContainers: [{ name: "look", image: "tools:1" }] },
    };

    const added = await server.patch(`${PODS}/a/ephemeralcontainers`, change);
    const removed = await server.patch(`${PODS}/a/ephemeralcontainers`, {
      spec: { ephemeralContainers: null },
    });

    expect(added).toMatchObject({
      code: 200,
      body: { metadata: { labels: { app: "web" } }, spec: { ephemeralContainers: [{ name: "look" }] } },
    });
    expect(removed.code).toBe(422);
  });

  test("a resize changes cpu and memory, which an update of the pod cannot", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", "/api/v1/nodes", {
      metadata: { name: "n1", labels: { "kubernetes.io/os": "linux" } },
      status: { allocatable: { cpu: "2", memory: "4Gi" } },
    });
    await runPod(server, "a");
    const { body } = await server.send("GET", `${PODS}/a`);
    const grown = [{ ...CONTAINERS[0], image: "web:2", resources: { requests: { cpu: "200m" } } }];
    const next = { ...body, spec: { ...body["spec"], containers: grown } };

    const refused = await server.send("PUT", `${PODS}/a`, next);
    const resized = await server.send("PUT", `${PODS}/a/resize`, next);

    expect(refused.code).toBe(422);
    expect(resized.body["spec"]).toMatchObject({
      containers: [{ image: "web:1", resources: { requests: { cpu: "200m" } } }],
    });
  });
});

describe("tokens of service accounts", () => {
  const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
  const claimsOf = (body: FixtureReply["body"]): unknown =>
    JSON.parse(Buffer.from(textAt(body, "status", "token").split(".")[1] ?? "", "base64url").toString());

  test("a token names its account and audience, and authenticates there only", async () => {
    const server = await ServerFixture.start();
    const account = await server.send("POST", ACCOUNTS, { metadata: { name: "robot" } });

    const { code, body } = await server.send("POST", `${ACCOUNTS}/robot/token`, {
      spec: { audiences: ["vault"], expirationSeconds: 900 },
    });
    const review = await server.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      spec: { token: body["status"]?.["token"], audiences: ["vault", "other"] },
    });
    const elsewhere = await server.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      spec: { token: body["status"]?.["token"] },
    });

    expect(code).toBe(201);
    const { uid } = account.body["metadata"] ?? {};
    expect(claimsOf(body)).toMatchObject({
      sub: "system:serviceaccount:default:robot",
      aud: ["vault"],
      "kubernetes.io": { namespace: "default", serviceaccount: { name: "robot", uid } },
    });
    expect(review).toMatchObject({
      code: 201,
      body: {
        status: {
          authenticated: true,
          audiences: ["vault"],
          user: { username: "system:serviceaccount:default:robot", uid },
        },
      },
    });
    expect(elsewhere.body["status"]).not.toHaveProperty("authenticated");
  });

  test("a request that names another uid gets no token; the response has the account's uid", async () => {
    const server = await ServerFixture.start();
    const { body: account } = await server.send("POST", ACCOUNTS, { metadata: { name: "robot" } });
    const uid = textAt(account, "metadata", "uid");
    const path = `${ACCOUNTS}/robot/token`;

    const other = await server.send("POST", path, { metadata: { uid: "gone" }, spec: {} });
    const own = await server.send("POST", path, { metadata: { uid }, spec: {} });
    const any = await server.send("POST", path, { spec: {} });

    expect([other.code, other.body["message"]]).toEqual([
      409,
      'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request ' +
        `(gone) does not match the UID of the service account (${uid})`,
    ]);
    for (const { code, body } of [own, any])
      expect([code, body["metadata"]]).toMatchObject([201, { name: "robot", namespace: "default", uid }]);
  });

  test("forged tokens and tokens of deleted accounts are refused", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", ACCOUNTS, { metadata: { name: "robot" } });
    const { body } = await server.send("POST", `${ACCOUNTS}/robot/token`, { spec: {} });
    const token = textAt(body, "status", "token");
    const review = (text: string): Promise<FixtureReply> =>
      server.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: text } });

    const genuine = await review(token);
    await server.send("DELETE", `${ACCOUNTS}/robot`);

    expect(genuine.body["status"]).toMatchObject({ authenticated: true });
    expect((await review(token)).body["status"]).toMatchObject({ error: expect.any(String) as string });
    expect((await review(`${token.slice(0, -4)}AAAA`)).body["status"]).not.toHaveProperty("authenticated");
    expect((await review("nonsense")).body["status"]).not.toHaveProperty("authenticated");
  });

  test("a token lives at least ten minutes and no longer than its bound object", async () => {
    const server = await ServerFixture.start();
    await server.send("POST", ACCOUNTS, { metadata: { name: "robot" } });
    await startPod(server, "a", { serviceAccountName: "robot" });
    const ask = (spec: object): Promise<FixtureReply> =>
      server.send("POST", `${ACCOUNTS}/robot/token`, { spec });
    const bound = (name: string, uid = ""): object => ({ apiVersion: "v1", kind: "Pod", name, uid });

    const short = await ask({ expirationSeconds: 599 });
    const good = await ask({ boundObjectRef: bound("a") });

    expect(short.body["message"]).toContain("may not specify a duration less than 10 minutes");
    expect(claimsOf(good.body)).toMatchObject({ "kubernetes.io": { pod: { name: "a" } } });
    expect((await ask({ boundObjectRef: bound("a", "other") })).code).toBe(409);
    expect((await ask({ boundObjectRef: bound("b") })).code).toBe(404);
    expect((await server.send("POST", `${ACCOUNTS}/nobody/token`, { spec: {} })).code).toBe(404);
  });
});

describe("namespaces/finalize", () => {
  test("finalize writes the spec's finalizers, which an update of the namespace cannot, and no status", async () => {
    const server = await ServerFixture.start();
    const { body } = await server.send("POST", "/api/v1/namespaces", { metadata: { name: "old" } });
    const next = { ...body, spec: { finalizers: ["example.com/own"] }, status: { phase: "Terminating" } };

    const plain = await server.send("PUT", "/api/v1/namespaces/old", next);
    const { metadata } = plain.body;
    const final = await server.send("PUT", "/api/v1/namespaces/old/finalize", { ...next, metadata });

    expect(plain.body["spec"]).toEqual({ finalizers: ["kubernetes"] });
    expect(final.body).toMatchObject({
      spec: { finalizers: ["example.com/own"] },
      status: { phase: "Active" },
    });
  });
});

describe("a certificate request", () => {
  test("a certificate request records its sender, whatever its body claims", async () => {
    const server = await ServerFixture.start();
    const spec = {
      request: SAMPLE_REQUESTS.nodeOne,
      signerName: "example.com/signer",
      usages: ["client auth"],
    };
    const claimed = { username: "root", groups: ["system:masters"], extra: { "example.com/a": ["b"] } };

    const { code, body } = await server.send(
      "POST",
      "/apis/certificates.k8s.io/v1/certificatesigningrequests",
      { metadata: { name: "it" }, spec: { ...spec, ...claimed } },
    );

    expect(code).toBe(201);
    expect(body["spec"]).toEqual({ ...spec, username: "alice", uid: "u1", groups: ["system:authenticated"] });
  });
});

describe("approval of a certificate request", () => {
  test("an approval is never removed, and never combined with a denial", async () => {
    const server = await ServerFixture.start();
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const spec = {
      request: SAMPLE_REQUESTS.nodeOne,
      signerName: "example.com/signer",
      usages: ["client auth"],
    };
    const made = await server.send("POST", requests, { metadata: { name: "it" }, spec });
    const [yes, no] = ["Approved", "Denied"].map((type) => ({ type, status: "True" }));
    const decide = async (...conditions: readonly unknown[]): Promise<number> => {
      const { code } = await server.send("PUT", `${requests}/it/approval`, {
        metadata: { name: "it" },
        spec,
        status: { conditions },
      });
      return code;
    };

    expect(made.code).toBe(201);
    expect(await decide(yes, no)).toBe(422);
    expect(await decide({ ...yes, status: "False" })).toBe(422);
    expect(await decide(yes)).toBe(200);
    expect(await decide(no)).toBe(422);
    expect(await decide()).toBe(422);
  });

  test("an approval writes conditions with times, but neither spec nor certificate", () => {
    const condition = { type: "Approved", status: "True", reason: "Fine", message: "" };
    const draft = { spec: { signerName: "a" }, status: { certificate: "eA==", conditions: [condition] } };

    prepareApproval(draft as never, { spec: { signerName: "b" }, status: {} } as never, {
      now: 0,
      user: { name: "", uid: "", groups: [], extra: {} },
    });

    const time = "1970-01-01T00:00:00Z";
    expect(draft).toEqual({
      spec: { signerName: "b" },
      status: { conditions: [{ ...condition, lastUpdateTime: time, lastTransitionTime: time }] },
    });
  });
});
