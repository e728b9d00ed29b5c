/** Secrets are not readable by other users of the machine, and are absent from logs and responses. */
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { text } from "../api-harness.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";
import type { Answered } from "./running-cluster.ts";

const TRUST = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const SECRETS = "/api/v1/namespaces/default/secrets";
const CLEAR = "correct horse battery staple";
const HIDDEN = Buffer.from(CLEAR).toString("base64");

const folder = new Folder();
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await RunningCluster.start(folder);
});
afterAll(async () => {
  await cluster.stop();
  folder.remove();
});

test("everything in the data dir is its owner's alone, but for certificates and public keys", () => {
  const found = readdirSync(cluster.dataDir, { recursive: true, withFileTypes: true });
  const modes = new Map<string, number>([["", modeOf(cluster.dataDir)]]);
  for (const entry of found) {
    const path = join(entry.parentPath, entry.name);
    modes.set(`${relative(cluster.dataDir, path)}${entry.isDirectory() ? "/" : ""}`, modeOf(path));
  }
  const open = [...modes].filter(([path, mode]) => (mode & 0o077) !== 0 && !/\.(?:crt|pub)$/.test(path));

  expect(open).toEqual([]);
  expect([...modes.keys()]).toEqual(
    expect.arrayContaining([
      "kubeconfig",
      "pki/",
      "pki/ca.key",
      "pki/sa.key",
      "pki/admin.key",
      "scheduler.conf",
    ]),
  );
});

describe("a token", () => {
  test("that is good stands in no log", async () => {
    const token = await madeToken();

    const known = await cluster.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      isNobody: true,
      headers: bearer(token),
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    });

    expect(known).toMatchObject({
      code: 201,
      body: { status: { userInfo: { username: "system:serviceaccount:default:robot" } } },
    });
    expect(cluster.logged.join("\n")).not.toContain(token);
  });

  test("that is bad stands in no log and in no answer", async () => {
    const token = await madeToken();
    const forged = `${token.slice(0, -8)}AAAAAAAA`;
    const bad = ["short", forged, "a.b.c", `${"x".repeat(3000)}`, "é-ü", "abcdef.0123456789abcdef"];

    const answers = await Promise.all(
      bad.map((one) =>
        cluster.ask("GET", SECRETS, { isNobody: true, headers: bearer(encodeURIComponent(one)) }),
      ),
    );

    expect(answers.map(({ code }) => code)).toEqual(bad.map(() => 401));
    const said = [...cluster.logged, ...answers.map(({ text }) => text)].join("\n");
    for (const one of [forged, "abcdef.0123456789abcdef", "x".repeat(3000)]) expect(said).not.toContain(one);
  });
});

describe("what a Secret holds", () => {
  test.each<readonly [string, unknown]>([
    ["is no base64", { ...secret(), data: { value: CLEAR } }],
    ["is no text", { ...secret(), data: { value: { inner: CLEAR } } }],
    ["is a list", { ...secret(), data: [CLEAR] }],
    ["is under a bad key", { ...secret(), data: { "a b": HIDDEN } }],
    [
      "does not fit the type",
      { ...secret(), type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": HIDDEN } },
    ],
    ["lacks what the type needs", { ...secret(), type: "kubernetes.io/tls", data: { value: HIDDEN } }],
    ["is broken JSON", `{"apiVersion":"v1","kind":"Secret","data":{"value":"${HIDDEN}"`],
    [
      "is broken after the value",
      `{"apiVersion":"v1","kind":"Secret","stringData":{"value":"${CLEAR}"} oops`,
    ],
    ["is of another kind", { ...secret(), kind: "ConfigMap" }],
    ["is too large", { ...secret(), data: { value: HIDDEN.repeat(40_000) } }],
  ])("and %s is in no answer and no log", async (_what, body) => {
    const answer = await cluster.ask("POST", SECRETS, { body });

    expect(answer.code).toBeGreaterThanOrEqual(400);
    expectUnsaid(answer);
  });

  test("and is immutable is not in the answer to a refused change", async () => {
    await cluster.ask("POST", SECRETS, { body: { ...secret("fixed"), immutable: true } });

    const answers = [
      await cluster.ask("PUT", `${SECRETS}/fixed`, {
        body: {
          ...secret("fixed"),
          immutable: true,
          data: { value: Buffer.from("another").toString("base64") },
        },
      }),
      await cluster.ask("PATCH", `${SECRETS}/fixed`, {
        body: { stringData: { value: "another" } },
        headers: { "content-type": "application/merge-patch+json" },
      }),
      await cluster.ask("PATCH", `${SECRETS}/fixed`, {
        body: [{ op: "test", path: "/data/value", value: "guess" }],
        headers: { "content-type": "application/json-patch+json" },
      }),
      await cluster.ask("PATCH", `${SECRETS}/fixed?fieldManager=x`, {
        body: { ...secret("fixed"), data: { value: "" } },
        headers: { "content-type": "application/apply-patch+yaml" },
      }),
    ];

    for (const answer of answers) {
      expect(answer.code).toBeGreaterThanOrEqual(400);
      expectUnsaid(answer);
    }
  });
});

describe("what extension servers are told of authentication", () => {
  test("is there, and comes back when it is deleted or changed", async () => {
    const { body } = await cluster.ask("GET", TRUST);
    const { data } = body;
    await cluster.ask("DELETE", TRUST);
    const again = await eventually(
      () => cluster.ask("GET", TRUST),
      ({ code }) => code === 200,
    );
    await cluster.ask("PATCH", TRUST, {
      body: { data: { "client-ca-file": "", own: "kept" } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    const corrected = await eventually(
      () => cluster.ask("GET", TRUST),
      (answer) => (answer.body["data"]?.["client-ca-file"] as unknown) !== "",
    );

    expect(data).toEqual({
      "client-ca-file": expect.stringMatching(/^-----BEGIN CERTIFICATE-----/) as unknown,
      "requestheader-allowed-names": '["front-proxy-client"]',
      "requestheader-client-ca-file": expect.stringMatching(/^-----BEGIN CERTIFICATE-----/) as unknown,
      "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
      "requestheader-group-headers": '["X-Remote-Group"]',
      "requestheader-uid-headers": '["X-Remote-Uid"]',
      "requestheader-username-headers": '["X-Remote-User"]',
    });
    expect(again.body["data"]).toEqual(data);
    expect(corrected.body["data"]).toEqual({ ...data, own: "kept" });
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` };
}

async function madeToken(): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await cluster.ask("POST", accounts, {
    body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } },
  });
  const { body } = await cluster.ask("POST", `${accounts}/robot/token`, {
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  });
  return text(body["status"]?.["token"]);
}

function secret(name = "a"): Record<string, unknown> {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, data: { value: HIDDEN } };
}

/** Pieces of the secret are absent too: six characters are enough to recognize it. */
function expectUnsaid({ text }: Answered): void {
  const said = [text, ...cluster.logged].join("\n");
  for (const hidden of [CLEAR, HIDDEN]) {
    for (let at = 0; at + 6 <= hidden.length; at++) {
      const piece = hidden.slice(at, at + 6);
      if (said.includes(piece)) expect(said).not.toContain(piece);
    }
  }
}

async function eventually(
  ask: () => Promise<Answered>,
  isGood: (answer: Answered) => boolean,
): Promise<Answered> {
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
  }
}
