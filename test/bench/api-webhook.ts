/** Cost of an admission webhook: durable creates by a user with roles, while a webhook reviews each of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { loadIssuer, makePrivateKey } from "../../src/server/pki/issuer.ts";
import { bound, CLIENTS, JSON_BODY, load, PATH, podText, prepare, send } from "./api-cluster.ts";
import type { Measured } from "./api-cluster.ts";
import { startClusterProcess } from "./cluster-process.ts";
import type { ClusterProcess } from "./cluster-process.ts";
import type { Credentials } from "./http-load.ts";
import { whole } from "./row.ts";
import type { Bench, BenchContext, Row } from "./row.ts";

const USER = "bench";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const NAMED = { name: USER };

const ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: NAMED,
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["create", "get"] }],
};
const BINDING = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: NAMED,
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: USER },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: USER }],
};

function configuration(port: number, ca: string): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: NAMED,
    webhooks: [
      {
        name: "bench.example.com",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: {
          url: `https://127.0.0.1:${String(port)}/`,
          caBundle: Buffer.from(ca).toString("base64"),
        },
        rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      },
    ],
  };
}

/** Allows every request. Runs until its parent process ends it. */
export async function webhookChild({ dataDir }: { readonly dataDir: string }): Promise<never> {
  const read = (name: string): string => readFileSync(join(dataDir, "pki", name), "utf8");
  const server = createServer(
    { key: read("apiserver.key"), cert: read("apiserver.crt") },
    (request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const { request: asked } = JSON.parse(Buffer.concat(pieces).toString()) as {
          request: { uid: string };
        };
        const review = {
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid: asked.uid, allowed: true },
        };
        response.setHeader("content-type", "application/json").end(JSON.stringify(review));
      });
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  process.stdout.write(`${JSON.stringify(typeof address === "object" ? address?.port : 0)}\n`);
  return new Promise(() => undefined);
}

/** Client certificate from the cluster's CA for a user in no group. */
async function credentialsOf(cluster: ClusterProcess, dataDir: string): Promise<Credentials> {
  const { ca } = cluster.credentials;
  const key = makePrivateKey();
  const authority = { cert: ca, key: readFileSync(join(dataDir, "pki", "ca.key"), "utf8") };
  const subject = { commonName: USER, organizations: [] };
  const issuer = loadIssuer(createRealLoop({ name: "bench" }));
  return { ca, key, cert: await issuer.leaf({ subject, key, usage: "client", names: [], authority }) };
}

async function post(cluster: ClusterProcess, path: string, body: object): Promise<void> {
  const answer = await send(cluster, {
    method: "POST",
    path,
    headers: JSON_BODY,
    body: JSON.stringify(body),
  });
  const { kind, message } = JSON.parse(answer.toString()) as { kind: string; message?: string };
  if (kind === "Status") throw new Error(`${path}: ${message ?? ""}`);
}

async function measure(context: BenchContext, dataDir: string, cluster: ClusterProcess): Promise<Row[]> {
  const create = (as: ClusterProcess, prefix: string): Promise<Measured> =>
    load(context, as, { method: "POST", path: PATH, headers: JSON_BODY, body: podText(`${prefix}-%n`) });
  const plain = await create(cluster, "plain");
  await post(cluster, `${RBAC}/clusterroles`, ROLE);
  await post(cluster, `${RBAC}/clusterrolebindings`, BINDING);
  const user = { ...cluster, credentials: await credentialsOf(cluster, dataDir) };
  const allowed = await create(user, "allowed");
  const args = [
    fileURLToPath(import.meta.url),
    "--child",
    "webhook",
    "--argument",
    JSON.stringify({ dataDir }),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    await post(cluster, path, configuration(Number(line.toString()), cluster.credentials.ca));
    const judged = await create(user, "judged");
    return [
      row("create with RBAC", allowed, { plain, aim: 0.9 }),
      row("create with RBAC and webhook", judged, { plain, aim: 0.25 }),
    ];
  } finally {
    child.kill();
  }
}

function row(
  what: string,
  own: Measured,
  { plain, aim }: { readonly plain: Measured; readonly aim: number },
): Row {
  const ratio = own.rate / plain.rate;
  return {
    what: `${what}, ${String(CLIENTS)} clients`,
    value: `${whole(own.rate)}/s, p99 ${own.p99Ms.toFixed(0)} ms`,
    yardstick: `durable create ${whole(plain.rate)}/s`,
    figure: ratio.toFixed(2),
    aim: `≥ ${String(aim)}`,
    verdict: bound(own, ratio >= aim),
  };
}

export const apiWebhook: Bench = {
  name: "webhook",
  async run(context) {
    context.progress("webhook: create, with roles and with a webhook");
    const dataDir = context.folder();
    const cluster = await startClusterProcess(dataDir, { store: "file" });
    try {
      await prepare(cluster, 0);
      return await measure(context, dataDir, cluster);
    } finally {
      await cluster.stop();
    }
  },
};
