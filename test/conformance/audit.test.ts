/** The audit log of a server: records each request as its policy says. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { claimsOf } from "../../src/server/access/authn/fixture.ts";
import { listOf, text } from "../api-harness.ts";
import { describePeer } from "../peers.ts";
import { Kubectl } from "./kubectl/kubectl.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";
import type { Found } from "./running-cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LIMITS = { maxBytes: 100 << 20, maxAgeMs: 0, maxBackups: 0, isCompressed: false };

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  onTestFinished(() => folder.remove());
});

describe("a request", () => {
  test("at level Metadata leaves who, what, when and how it ended, at its beginning and its end", async () => {
    const cluster = await start("{level: Metadata, resources: [{resources: [configmaps]}]}");
    const { headers } = await cluster.ask("POST", MAPS, {
      body: map("a"),
      headers: { "user-agent": "tester/1", "x-forwarded-for": "192.0.2.7" },
    });
    const events = await stopped(cluster);

    expect(events.map(({ stage }) => stage)).toEqual(["RequestReceived", "ResponseComplete"]);
    expect(events[1]).toMatchObject({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: headers["audit-id"],
      requestURI: MAPS,
      verb: "create",
      user: { username: "kubernetes-admin", groups: expect.arrayContaining(["system:masters"]) as unknown },
      sourceIPs: ["192.0.2.7", "127.0.0.1"],
      userAgent: "tester/1",
      objectRef: { resource: "configmaps", namespace: "default", name: "a", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-.*T.*\.\d{6}Z$/) as unknown,
      stageTimestamp: expect.stringMatching(/^\d{4}-.*T.*\.\d{6}Z$/) as unknown,
    });
    expect(events[1]).not.toHaveProperty("requestObject");
    expect(events[1]).not.toHaveProperty("responseObject");
  });

  test("at level Request leaves what was sent, at RequestResponse also what was answered", async () => {
    const cluster = await start(
      "{level: Request, verbs: [create]}, {level: RequestResponse, verbs: [get, list, patch], omitManagedFields: true}",
    );
    await cluster.ask("POST", MAPS, { body: map("a") });
    await cluster.ask("GET", `${MAPS}/a`, { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    await cluster.ask("GET", MAPS, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    await cluster.ask("PATCH", `${MAPS}/a`, {
      body: [{ op: "add", path: "/data/more", value: "x" }],
      headers: { "content-type": "application/json-patch+json" },
    });
    const [create, get, list, patch] = complete(await stopped(cluster), "configmaps");

    expect(create).toMatchObject({ requestObject: map("a") });
    expect(create).not.toHaveProperty("responseObject");
    expect(get?.["responseObject"]).toMatchObject({ ...map("a"), metadata: { name: "a" } });
    expect(get?.["responseObject"]?.["metadata"]).not.toHaveProperty("managedFields");
    expect(list).toMatchObject({ verb: "list", responseObject: { kind: "ConfigMapList" } });
    expect(patch).toMatchObject({
      requestObject: [{ op: "add", path: "/data/more", value: "x" }],
      responseObject: { data: { value: "content", more: "x" } },
    });
  });

  test("that is refused says why", async () => {
    const cluster = await start("{level: Metadata, omitStages: [RequestReceived]}");
    await cluster.ask("GET", `${MAPS}/none`);
    await cluster.ask("POST", MAPS, { body: { ...map("a"), kind: "Pod" } });
    const [missing, wrong] = await stopped(cluster);

    expect(missing?.["responseStatus"]).toEqual({
      metadata: {},
      status: "Failure",
      message: 'configmaps "none" not found',
      reason: "NotFound",
      details: { name: "none", kind: "configmaps" },
      code: 404,
    });
    expect(wrong).toMatchObject({ responseStatus: { code: 400, reason: "BadRequest" } });
  });

  test("that watches is written down when it begins and when it ends", async () => {
    const cluster = await start("{level: Metadata, verbs: [watch], userGroups: [kubeadm:cluster-admins]}");
    await cluster.ask("GET", `${MAPS}?watch=1&timeoutSeconds=1`);
    const events = await stopped(cluster);

    expect(events.map(({ stage }) => stage)).toEqual([
      "RequestReceived",
      "ResponseStarted",
      "ResponseComplete",
    ]);
    expect(events[2]).toMatchObject({ responseStatus: { code: 200 }, sourceIPs: ["127.0.0.1"] });
  });

  test("of an unknown user is recorded too, without its credentials", async () => {
    const cluster = await start("{level: RequestResponse}");
    const token = "not-a-token-of-anybody";
    const { code } = await cluster.ask("GET", MAPS, {
      isNobody: true,
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await log(cluster);
    const [refused, ...others] = parsed(text).filter((event) => isText(event["requestURI"], MAPS));

    expect(code).toBe(401);
    expect(others).toEqual([]);
    expect(refused).toMatchObject({
      stage: "ResponseStarted",
      user: {},
      responseStatus: { code: 401, message: "Authentication failed, attempted: bearer" },
    });
    expect(text).not.toContain(token);
  });

  test("for a token never leaves the token", async () => {
    const cluster = await start("{level: RequestResponse}");
    await cluster.ask("POST", "/api/v1/namespaces/default/serviceaccounts", {
      body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } },
    });
    const made = await cluster.ask("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    });
    const token = text(made.body["status"]?.["token"]);
    const reviewed = await cluster.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
    });
    const logged = await log(cluster);

    expect(reviewed.code).toBe(201);
    expect(token).toMatch(/^ey/);
    expect(logged).toContain('"resource":"tokenreviews"');
    expect(logged).not.toContain(token);
  });

  test("for changes has no values, which the policy may keep out of the log elsewhere", async () => {
    const quiet = "{level: Metadata, resources: [{resources: [configmaps]}]}";
    const cluster = await start(`${quiet}, {level: RequestResponse}`);
    const secretive = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      data: { k: "hunter2" },
    };
    await cluster.ask("POST", MAPS, { body: secretive });

    const changes = await cluster.ask("GET", "/apis/causes.setpoint.dev/v1/namespaces/default/changes");

    expect(changes.text).toContain("hunter2");
    const logged = await log(cluster);
    expect(logged).toContain('{"path":"data"}');
    expect(logged).not.toContain("hunter2");
  });

  test("for a token says by which name it is known when it is used", async () => {
    const cluster = await start("{level: Metadata, resources: [{resources: [serviceaccounts/token]}]}");
    await cluster.ask("POST", "/api/v1/namespaces/default/serviceaccounts", {
      body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } },
    });
    const made = await cluster.ask("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    });
    const { jti } = claimsOf(text(made.body["status"]?.["token"]));
    const [event] = complete(await stopped(cluster), "serviceaccounts");

    expect(event?.["annotations"]).toMatchObject({
      "authentication.kubernetes.io/issued-credential-id": `JTI=${String(jti)}`,
    });
  });

  test("of a path is matched by its path, and health probes can be left out", async () => {
    const cluster = await start(
      "{level: None, nonResourceURLs: ['/livez*', /readyz]}, {level: Metadata, nonResourceURLs: ['*'], omitStages: [RequestReceived]}",
    );
    await cluster.ask("GET", "/livez/ping");
    await cluster.ask("GET", "/version");
    const events = await stopped(cluster);

    expect(events).toMatchObject([{ verb: "get", requestURI: "/version", responseStatus: { code: 200 } }]);
    expect(events[0]).not.toHaveProperty("objectRef");
  });
});

describe("the loops of the cluster's own process", () => {
  test("are recorded like other clients", async () => {
    const policyFile = policy(
      "{level: Metadata, verbs: [create], resources: [{resources: [serviceaccounts]}]}",
    );
    const path = join(folder.path, "audit.log");
    const audit = { policyFile, log: { path, limits: LIMITS } };
    const loops = ["serviceaccount-controller"] as const;
    const cluster = await RunningCluster.start(folder, { audit, loops });
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    while ((await cluster.ask("GET", account)).code !== 200);
    const events = await stopped(cluster);

    const made = complete(events, "serviceaccounts").find(({ objectRef }) =>
      isText(objectRef?.["namespace"], "default"),
    );
    expect(made).toMatchObject({ objectRef: { name: "default" }, responseStatus: { code: 201 } });
    expect(made).not.toHaveProperty("sourceIPs");
  });
});

describe("a webhook", () => {
  test("gets lists of events with the credentials of its kubeconfig, the last ones when the server ends", async () => {
    const received = await receiver();
    const webhookFile = join(folder.path, "webhook.conf");
    writeFileSync(webhookFile, webhookConfig(received.url));
    const policyFile = policy("{level: Metadata, omitStages: [RequestReceived], verbs: [list]}");
    const cluster = await RunningCluster.start(folder, { audit: { policyFile, webhookFile } });
    await cluster.ask("GET", MAPS);
    await cluster.ask("GET", "/api/v1/namespaces/default/pods");
    await cluster.stop();

    const lists = received.bodies.map((text) => JSON.parse(text) as Found);
    expect(lists).toMatchObject(lists.map(() => ({ kind: "EventList", apiVersion: "audit.k8s.io/v1" })));
    const events = lists.flatMap(({ items }) => listOf<Found>(items));
    expect(events.map(({ objectRef }) => objectRef?.["resource"])).toEqual(["configmaps", "pods"]);
    expect(new Set(received.tokens)).toEqual(new Set(["Bearer letmein"]));
    expect(cluster.logged.join("\n")).not.toContain("letmein");
  });
});

async function receiver() {
  const bodies: string[] = [];
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    tokens.push(request.headers.authorization);
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      bodies.push(Buffer.concat(pieces).toString());
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { bodies, tokens, url: `http://127.0.0.1:${String(port)}/audit` };
}

function webhookConfig(url: string): string {
  return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "${url}"}}]
users: [{name: u, user: {token: letmein}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
}

describe("a policy", () => {
  test("that makes no sense keeps the server from starting", async () => {
    await expect(start("{level: Everything}")).rejects.toThrow(
      "policy.yaml is no audit policy: rules[0].level",
    );
  });

  test("whose log cannot be written keeps the server from starting", async () => {
    const path = join(folder.path, "audit.log");
    mkdirSync(path);

    await expect(start("{level: Metadata}")).rejects.toMatchObject({ code: "EISDIR", path });
  });

  test("that is not there costs no file", async () => {
    const cluster = await RunningCluster.start(folder);
    await cluster.ask("GET", MAPS);
    await cluster.stop();

    expect(existsSync(join(folder.path, "audit.log"))).toBe(false);
  });
});

describePeer("kubectl", "kubectl", (path) => {
  test("shows under --as who asked and for whom", async () => {
    const cluster = await start("{level: Metadata, verbs: [list], omitStages: [RequestReceived]}");
    const kubectl = new Kubectl({ path, kubeconfig: cluster.kubeconfig, home: folder.path });
    await kubectl.ok("get", "cm", "--as=somebody", "--as-group=system:masters");
    const [event] = await stopped(cluster);

    expect(event).toMatchObject({
      user: { username: "kubernetes-admin" },
      impersonatedUser: { username: "somebody", groups: ["system:masters", "system:authenticated"] },
      userAgent: expect.stringMatching(/^kubectl\//) as unknown,
      annotations: { "authorization.k8s.io/decision": "allow" },
    });
    // Only the old verb reaches system:masters.
    expect(event).not.toHaveProperty("authenticationMetadata");
  });

  test("shows the constrained verb that allowed an impersonation", async () => {
    const cluster = await start("{level: Metadata, verbs: [list], omitStages: [RequestReceived]}");
    const kubectl = new Kubectl({ path, kubeconfig: cluster.kubeconfig, home: folder.path });
    await kubectl.refused("get", "cm", "--as=somebody");
    const [event] = await stopped(cluster);

    expect(event).toMatchObject({
      impersonatedUser: { username: "somebody" },
      authenticationMetadata: { impersonationConstraint: "impersonate:user-info" },
    });
  });
});

function policy(rules: string): string {
  const policyFile = join(folder.path, "policy.yaml");
  writeFileSync(policyFile, `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [${rules}]}`);
  return policyFile;
}

/** Without controllers, so that only the test sends requests. */
async function start(rules: string): Promise<RunningCluster> {
  const log = { path: join(folder.path, "audit.log"), limits: LIMITS };
  const audit = { policyFile: policy(rules), log };
  return await RunningCluster.start(folder, { audit, store: { type: "memory" } });
}

async function log(cluster: RunningCluster): Promise<string> {
  await cluster.stop();
  return readFileSync(join(folder.path, "audit.log"), "utf8");
}

function parsed(text: string): readonly Found[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Found);
}

async function stopped(cluster: RunningCluster): Promise<readonly Found[]> {
  return parsed(await log(cluster));
}

function complete(events: readonly Found[], resource: string): readonly Found[] {
  return events.filter(
    ({ stage, objectRef }) => isText(stage, "ResponseComplete") && isText(objectRef?.["resource"], resource),
  );
}

function isText(field: unknown, text: string): boolean {
  return field === text;
}

function map(name: string): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value: "content" } };
}
