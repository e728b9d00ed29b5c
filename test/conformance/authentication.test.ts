/** Authentication over real connections: kubectl and the TypeScript client, with certificates, tokens and impersonation. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { request } from "node:https";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as k8s from "@kubernetes/client-node";
import type * as X509 from "@peculiar/x509";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/api/json/json-object.ts";
import type { Log, LogFields } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { runCluster } from "../../src/cluster/cluster.ts";
import { describePeer } from "../peers.ts";
import { Kubectl } from "./kubectl/kubectl.ts";

const LOOPS = [
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-signing-controller",
];
const STATIC_TOKEN = "static-token-of-dora";

class World {
  readonly folder = mkdtempSync(join(tmpdir(), "setpoint-authentication-"));
  logged = "";
  server = "";
  kubeconfig = "";
  readonly #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();

  get pki(): string {
    return join(this.folder, "data", "pki");
  }

  async start(): Promise<void> {
    const tokenFile = join(this.folder, "tokens.csv");
    writeFileSync(tokenFile, `${STATIC_TOKEN},dora,d1,"dev"\n`, { mode: 0o600 });
    await new Promise<void>((resolve, reject) => {
      this.#running = runCluster(
        {
          dataDir: join(this.folder, "data"),
          store: { type: "memory" },
          listen: { host: "127.0.0.1", port: 0 },
          restoreFile: undefined,
          kubeconfigFile: undefined,
          pkiDir: this.pki,
          runtimeConfig: {},
          serviceCidrs: ["10.96.0.0/12"],
          nodePorts: { first: 30_000, last: 32_767 },
          podCidrs: ["10.128.0.0/9"],
          authentication: { tokenFile },
          loops: LOOPS,
          nodes: 0,
        },
        {
          loop: createRealLoop({ name: "authentication-test" }),
          log: this.#log(),
          signal: this.#ending.signal,
          report: (event) => {
            if (event.event !== "ready") return;
            this.server = event.server;
            this.kubeconfig = event.kubeconfig;
            resolve();
          },
        },
      );
      this.#running.catch(reject);
    });
  }

  /** A kubeconfig of another user. */
  configOf(name: string, user: object): string {
    const file = join(this.folder, `${name}.kubeconfig`);
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "it",
      clusters: [
        { name: "it", cluster: { server: this.server, "certificate-authority": join(this.pki, "ca.crt") } },
      ],
      contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
      users: [{ name: "it", user }],
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    rmSync(this.folder, { recursive: true, force: true });
  }

  #log(): Log {
    const note = (message: string, fields?: LogFields): void => {
      this.logged += `${message} ${JSON.stringify(fields)}\n`;
    };
    const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
    return log;
  }
}

const world = new World();
beforeAll(() => world.start());
afterAll(() => world.end());

interface Whoami {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups?: readonly string[] } };
}

describePeer("kubectl", "kubectl", (path) => {
  let admin: Kubectl;
  beforeAll(() => {
    admin = new Kubectl({ path, kubeconfig: world.kubeconfig, home: world.folder }, "default");
  });
  const as = (name: string, user: object): Kubectl =>
    new Kubectl({ path, kubeconfig: world.configOf(name, user), home: world.folder }, "default");
  const whoIs = async (kubectl: Kubectl, ...args: readonly string[]): Promise<Whoami["status"]["userInfo"]> =>
    ((await kubectl.json("auth", "whoami", ...args)) as JsonObject & Whoami).status.userInfo;

  test("is who its certificate says", async () => {
    expect(await whoIs(admin)).toMatchObject({
      username: "kubernetes-admin",
      groups: ["system:masters", "kubeadm:cluster-admins", "system:authenticated"],
    });
  });

  test("is a service account with the token that it asks for, until the account is gone", async () => {
    await admin.ok("create", "serviceaccount", "robot");
    const token = (await admin.ok("create", "token", "robot")).trim();
    const robot = as("robot", { token });

    expect(await whoIs(robot)).toMatchObject({
      username: "system:serviceaccount:default:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    expect(await robot.refused("get", "pods")).toContain(
      'User "system:serviceaccount:default:robot" cannot list resource "pods" in API group "" in the namespace "default"',
    );
    expect(await robot.ok("get", "--raw", "/.well-known/openid-configuration")).toContain('"jwks_uri"');
    expect(await robot.ok("get", "--raw", "/openid/v1/jwks")).toContain('"kid"');
    await admin.ok("delete", "serviceaccount", "robot");
    expect(await robot.refused("get", "pods")).toContain("You must be logged in to the server");
    expect(world.logged).not.toContain(token.split(".")[2]);
  });

  test("is unauthenticated with the token of a deleted pod", async () => {
    await admin.ok("create", "serviceaccount", "worker");
    await admin.ok("run", "bound", "--image=i", "--overrides", '{"spec":{"serviceAccountName":"worker"}}');
    const bound = ["--bound-object-kind", "Pod", "--bound-object-name", "bound"];
    const token = (await admin.ok("create", "token", "worker", ...bound)).trim();
    const worker = as("worker", { token });

    const before = await whoIs(worker);
    await admin.ok("delete", "pod", "bound", "--now");

    expect(before.username).toBe("system:serviceaccount:default:worker");
    expect(await worker.refused("auth", "whoami")).toContain("You must be logged in to the server");
  });

  test("has the token of a Secret that was asked for", async () => {
    await admin.ok("create", "serviceaccount", "keeper");
    const annotations = { "kubernetes.io/service-account.name": "keeper" };
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "keeper-token", annotations },
      type: "kubernetes.io/service-account-token",
    };
    await admin.ok("create", "-f", admin.file("secret.json", secret));
    await admin.ok("wait", "--for=jsonpath={.data.token}", "secret/keeper-token", "--timeout=10s");
    const encoded = await admin.ok("get", "secret", "keeper-token", "-o", "jsonpath={.data.token}");
    const keeper = as("keeper", { token: Buffer.from(encoded, "base64").toString() });

    const before = await whoIs(keeper);
    await admin.ok("delete", "secret", "keeper-token");

    expect(before.username).toBe("system:serviceaccount:default:keeper");
    expect(await keeper.refused("auth", "whoami")).toContain("You must be logged in to the server");
  });

  test("acts as others where it may, and is told where not", async () => {
    const dora = as("dora", { token: STATIC_TOKEN });

    expect(await whoIs(admin, "--as=alice", "--as-group=dev", "--as-uid=7")).toMatchObject({
      username: "alice",
      uid: "7",
      groups: ["dev", "system:authenticated"],
    });
    expect(await admin.refused("get", "pods", "--as=alice")).toContain(
      'User "alice" cannot list resource "pods"',
    );
    expect(await whoIs(dora)).toMatchObject({ username: "dora", groups: ["dev", "system:authenticated"] });
    expect(await dora.refused("get", "pods", "--as=alice")).toContain(
      'pods is forbidden: User "dora" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"',
    );
  });

  test("is unauthenticated with a wrong token", async () => {
    expect(await as("wrong", { token: "wrong" }).refused("version")).toContain("must be logged in");
  });

  test("gets an approved certificate, and is its user", async () => {
    const { key, pem } = await makeRequest("CN=erin,O=dev");
    const usages = ["client auth"];
    await admin.ok("create", "-f", admin.file("csr.json", signingRequest("erin", pem, { usages })));
    await admin.ok("certificate", "approve", "erin");
    const certificate = await certificateOf(admin, "erin");
    writeFileSync(join(world.folder, "erin.key"), key, { mode: 0o600 });
    writeFileSync(join(world.folder, "erin.crt"), certificate);
    const erin = as("erin", {
      "client-certificate": join(world.folder, "erin.crt"),
      "client-key": join(world.folder, "erin.key"),
    });

    expect(await whoIs(erin)).toMatchObject({ username: "erin", groups: ["dev", "system:authenticated"] });
    expect(await admin.ok("get", "csr", "erin")).toContain("Approved,Issued");
  });

  test("is told why a request is not signed", async () => {
    const { pem } = await makeRequest("CN=mallory,O=system:nodes");
    const signerName = "kubernetes.io/kubelet-serving";
    const usages = ["digital signature", "server auth"];
    const wish = signingRequest("mallory", pem, { signerName, usages });
    await admin.ok("create", "-f", admin.file("mallory.json", wish));
    await admin.ok("certificate", "approve", "mallory");

    await admin.ok("wait", "--for=condition=Failed", "csr/mallory", "--timeout=10s");

    const { status } = await admin.json("get", "csr", "mallory");
    expect(status?.["conditions"]).toContainEqual(
      expect.objectContaining({
        type: "Failed",
        reason: "SignerValidationFailure",
        message: "DNS or IP subjectAltName is required",
      }),
    );
  });

  test("joins as a node does: with a bootstrap token, and an automatically approved certificate", async () => {
    const literals = [
      "token-id=abcdef",
      "token-secret=0123456789abcdef",
      "usage-bootstrap-authentication=true",
      "auth-extra-groups=system:bootstrappers:nodes",
    ];
    await admin.ok(
      ...["--namespace", "kube-system", "create", "secret", "generic", "bootstrap-token-abcdef"],
      ...["--type=bootstrap.kubernetes.io/token", ...literals.map((each) => `--from-literal=${each}`)],
    );
    for (const role of [
      "system:node-bootstrapper",
      "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    ])
      await admin.ok(
        ...["create", "clusterrolebinding", role.replaceAll(":", "-"), `--clusterrole=${role}`],
        "--group=system:bootstrappers:nodes",
      );
    const joining = as("joining", { token: "abcdef.0123456789abcdef" });
    const { key, pem } = await makeRequest("O=system:nodes,CN=system:node:n1");
    const wish = signingRequest("n1", pem, {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
      expirationSeconds: 3600,
    });

    await joining.ok("create", "-f", joining.file("n1.json", wish));
    writeFileSync(join(world.folder, "n1.crt"), await certificateOf(admin, "n1"));
    writeFileSync(join(world.folder, "n1.key"), key, { mode: 0o600 });
    const node = as("n1", {
      "client-certificate": join(world.folder, "n1.crt"),
      "client-key": join(world.folder, "n1.key"),
    });

    expect((await whoIs(joining)).username).toBe("system:bootstrap:abcdef");
    expect(await whoIs(node)).toMatchObject({
      username: "system:node:n1",
      groups: ["system:nodes", "system:authenticated"],
    });
    const { status } = await admin.json("get", "csr", "n1");
    expect(status?.["conditions"]?.["0"]).toMatchObject({ type: "Approved", reason: "AutoApproved" });

    const own = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient";
    await admin.ok("create", "clusterrolebinding", "renewal", `--clusterrole=${own}`, "--group=system:nodes");
    const metadata = { name: "n1-renewal" };
    await node.ok("create", "-f", node.file("renewal.json", { ...wish, metadata }));
    expect(await certificateOf(admin, "n1-renewal")).toContain("BEGIN CERTIFICATE");
    expect((await admin.json("get", "csr", "n1-renewal"))["status"]?.["conditions"]?.["0"]).toMatchObject({
      message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
    });
  });
});

describe("the client that most TypeScript programs use", () => {
  test("works with a token", async () => {
    const config = new k8s.KubeConfig();
    config.loadFromFile(world.configOf("client-node", { token: STATIC_TOKEN }));

    const { status } = await config
      .makeApiClient(k8s.AuthenticationV1Api)
      .createSelfSubjectReview({ body: {} });

    expect(status?.userInfo?.username).toBe("dora");
  });
});

describe("a front proxy", () => {
  const TARGET = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const pair = (name: string): { readonly cert: Buffer; readonly key: Buffer; readonly ca: Buffer } => ({
    cert: readFileSync(join(world.pki, `${name}.crt`)),
    key: readFileSync(join(world.pki, `${name}.key`)),
    ca: readFileSync(join(world.pki, "ca.crt")),
  });

  function http1(
    name: string,
    headers: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = { "content-type": "application/json", ...headers } as Record<string, string | string[]>;
      const asked = request(
        `${world.server}${TARGET}`,
        { method: "POST", headers: sent, ...pair(name) },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          answer.on("end", () => resolve(text));
        },
      );
      asked.on("error", reject);
      asked.end("{}");
    });
  }

  function http2(
    name: string,
    headers: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<string> {
    const session = connect(world.server, pair(name));
    const sent = { ":method": "POST", ":path": TARGET, "content-type": "application/json", ...headers };
    const stream = session.request(sent as Record<string, string | string[]>);
    return new Promise<string>((resolve, reject) => {
      let text = "";
      stream.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      stream.on("end", () => resolve(text)).on("error", reject);
      stream.end("{}");
    }).finally(() => {
      session.close();
    });
  }

  const REMOTE = { "x-remote-user": "zoe", "x-remote-group": ["a, system:masters", "b"] };

  test.each([
    ["HTTP/1.1", http1],
    ["HTTP/2", http2],
  ])("speaks for others over %s, and a comma in a group stays one", async (_, send) => {
    const { status } = JSON.parse(await send("front-proxy-client", REMOTE)) as Whoami;

    expect(status.userInfo).toMatchObject({
      username: "zoe",
      groups: ["a, system:masters", "b", "system:authenticated"],
    });
  });

  test.each([
    ["HTTP/1.1", http1],
    ["HTTP/2", http2],
  ])("is nobody itself over %s, and nobody else may speak for others", async (_, send) => {
    const admin = JSON.parse(await send("admin", REMOTE)) as Whoami;

    expect(await send("front-proxy-client", {})).toContain('"reason":"Unauthorized"');
    expect(admin.status.userInfo.username).toBe("kubernetes-admin");
  });
});

test("keys are for their owner alone", () => {
  const keys = ["ca.key", "sa.key", "admin.key", "front-proxy-ca.key", "front-proxy-client.key"];

  for (const name of keys) expect(statSync(join(world.pki, name)).mode & 0o077, name).toBe(0);
  expect(statSync(world.kubeconfig).mode & 0o077).toBe(0);
});

interface Asked {
  readonly signerName?: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

function signingRequest(name: string, pem: string, asked: Asked): object {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client",
      request: Buffer.from(pem).toString("base64"),
      ...asked,
    },
  };
}

async function certificateOf(kubectl: Kubectl, name: string): Promise<string> {
  await kubectl.ok("wait", "--for=jsonpath={.status.certificate}", `csr/${name}`, "--timeout=10s");
  const encoded = await kubectl.ok("get", "csr", name, "-o", "jsonpath={.status.certificate}");
  return Buffer.from(encoded, "base64").toString();
}

async function makeRequest(name: string): Promise<{ readonly key: string; readonly pem: string }> {
  const require = createRequire(import.meta.url);
  require("reflect-metadata");
  const x509 = require("@peculiar/x509") as typeof X509;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const bytes = privateKey.export({ type: "pkcs8", format: "der" });
  const imported = await crypto.subtle.importKey("pkcs8", bytes, algorithm, true, ["sign"]);
  const jwk = await crypto.subtle.exportKey("jwk", imported);
  const { d: _, ...half } = jwk;
  const publicKey = await crypto.subtle.importKey("jwk", { ...half, key_ops: ["verify"] }, algorithm, true, [
    "verify",
  ]);
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys: { privateKey: imported, publicKey },
    signingAlgorithm: algorithm,
  });
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), pem: made.toString("pem") };
}
