/** Values encrypted with a key are readable with that key only. */
import { createDecipheriv } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { backUp } from "../../src/cluster/data-dir/cluster-backup.ts";
import { storeFolder } from "../../src/cluster/data-dir/open-store.ts";
import type { ClusterOptions } from "../../src/cluster/options.ts";
import { openFileStore } from "../../src/store/file-store.ts";
import { text } from "../api-harness.ts";
import { EtcdServer } from "../etcd-server.ts";
import { describePeer } from "../peers.ts";
import { Kubectl } from "./kubectl/kubectl.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const CLEAR = "correct horse battery staple";
const SECRETS = "/api/v1/namespaces/default/secrets";
const KEYS = {
  old: Buffer.alloc(32, "o").toString("base64"),
  new: Buffer.alloc(32, "n").toString("base64"),
};

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  onTestFinished(() => folder.remove());
});

describe("secrets stored with a key", () => {
  test("are nowhere on disk in clear, and clients see no difference", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    const listed = await cluster.ask("GET", SECRETS);
    const first = text(listed.body["items"]?.["0"]?.["metadata"]?.["resourceVersion"]);
    await cluster.ask("PUT", `${SECRETS}/a`, { body: secret("a", "second value") });
    const past = await cluster.ask("GET", `${SECRETS}/a?resourceVersion=${first}&resourceVersionMatch=Exact`);
    const seen = await cluster.ask("GET", `${SECRETS}?watch=1&timeoutSeconds=1&resourceVersion=${first}`);
    await cluster.stop();

    expect(dataOf(past)).toBe(CLEAR);
    expect(seen.text).toContain(encoded("second value"));
    for (const needle of [CLEAR, encoded(CLEAR), "second value", encoded("second value")]) {
      expect(filesWith(cluster.dataDir, needle)).toEqual([]);
    }
    await using again = await start(config(aesgcm("old")));
    expect(dataOf(await again.ask("GET", `${SECRETS}/a`))).toBe("second value");
  });

  test("are in the form in which kube-apiserver has them", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();

    const stored = await storedBytes("/registry/secrets/default/a");
    const prefix = "k8s:enc:aesgcm:v1:old:";
    const sealed = stored.subarray(prefix.length);
    const decipher = createDecipheriv("aes-256-gcm", Buffer.alloc(32, "o"), sealed.subarray(0, 12));
    decipher.setAAD(Buffer.from("/registry/secrets/default/a"));
    decipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);

    expect(stored.subarray(0, prefix.length).toString()).toBe(prefix);
    expect(JSON.parse(plain.toString())).toMatchObject({ kind: "Secret", data: { value: encoded(CLEAR) } });
  });

  test("stay sealed in a backup", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();

    const file = join(folder.path, "backup");
    await backUp(
      { dataDir: cluster.dataDir, store: { type: "file" }, file },
      { loop: createRealLoop({ name: "backup" }), log: silentLog },
    );

    expect(readFileSync(file).includes(encoded(CLEAR))).toBe(false);
    expect(readFileSync(file).includes("k8s:enc:aesgcm:v1:old:")).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("written in clear before are sealed by the next write, also one that changes nothing", async () => {
    const cluster = await start(undefined);
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();
    await using sealing = await start(config(aesgcm("old"), "identity: {}"));
    const before = await sealing.ask("GET", `${SECRETS}/a`);

    const once = await sealing.ask("PUT", `${SECRETS}/a`, { body: before.body });
    const twice = await sealing.ask("PUT", `${SECRETS}/a`, { body: once.body });
    await sealing.stop();

    expect(versionOf(once)).not.toBe(versionOf(before));
    expect(versionOf(twice)).toBe(versionOf(once));
    expect((await storedBytes("/registry/secrets/default/a")).toString("latin1")).toMatch(/^k8s:enc:aesgcm:/);
  });

  test("move to a new key, after which the old one can go", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();
    const both = await start(config(aesgcm("new", "old")));
    const read = await both.ask("GET", `${SECRETS}/a`);
    await both.ask("PUT", `${SECRETS}/a`, { body: read.body });
    await both.stop();

    await using last = await start(config(aesgcm("new")));

    expect(dataOf(await last.ask("GET", `${SECRETS}/a`))).toBe(CLEAR);
  });
});

describe("a wrong key", () => {
  test("is an error of what it was used for, and of nothing else", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();
    await using wrong = await start(config(aesgcm("new")));
    await wrong.ask("POST", "/api/v1/namespaces/kube-system/secrets", { body: secret("b") });

    const one = await wrong.ask("GET", `${SECRETS}/a`);
    const list = await wrong.ask("GET", SECRETS);
    const other = await wrong.ask("GET", "/api/v1/namespaces/kube-system/secrets/b");

    const message =
      'Internal error occurred: unable to transform key "/registry/secrets/default/a": no matching prefix found';
    expect(one).toMatchObject({ code: 500, body: { reason: "InternalError", message } });
    expect(list).toMatchObject({ code: 200, body: { items: [] } });
    expect(list.headers["warning"]).toContain("cannot be read: /registry/secrets/default/a");
    expect(dataOf(other)).toBe(CLEAR);
  });

  test("with the right name does not open anything either", async () => {
    const cluster = await start(config(aesgcm("old")));
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.stop();

    await using wrong = await start(config(aesgcm("old")).replace(KEYS.old, KEYS.new));

    const { code, body } = await wrong.ask("GET", `${SECRETS}/a`);
    expect([code, body["message"]]).toEqual([
      500,
      'Internal error occurred: unable to transform key "/registry/secrets/default/a": message authentication failed',
    ]);
  });
});

describe("the simple way", () => {
  test("is a file of keys for Secrets alone", async () => {
    const keyFile = join(folder.path, "keys");
    writeFileSync(keyFile, `${KEYS.new}\n${KEYS.old}\n`, { mode: 0o600 });
    const cluster = await RunningCluster.start(folder, { encryption: { keyFile, configFile: undefined } });
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.ask("POST", "/api/v1/namespaces/default/configmaps", {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { value: "in the open" } },
    });
    await cluster.stop();

    expect(filesWith(cluster.dataDir, encoded(CLEAR))).toEqual([]);
    expect(filesWith(cluster.dataDir, "in the open")).not.toEqual([]);
    expect(cluster.logged.join("\n")).not.toMatch(/can be read by others/);
  });

  test("keeps a server from starting when the file holds no key", async () => {
    const keyFile = join(folder.path, "keys");
    writeFileSync(keyFile, "c2hvcnQ=\n", { mode: 0o600 });

    const starting = RunningCluster.start(folder, { encryption: { keyFile, configFile: undefined } });

    await expect(starting).rejects.toThrow("line 1: expected 16, 24, 32 bytes in base64");
  });
});

describe("everything stored with a key", () => {
  test("is found again by a server that starts anew, custom resources included", async () => {
    const first = await start(everything());
    await first.ask("POST", DEFINITIONS, { body: WIDGETS });
    while ((await first.ask("GET", `${GROUP}/widgets`)).code !== 200);
    const widget = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { text: CLEAR },
    };
    const made = await first.ask("POST", `${GROUP}/namespaces/default/widgets`, { body: widget });
    await first.ask("POST", "/api/v1/namespaces/default/services", { body: SERVICE });
    await first.ask("POST", "/api/v1/namespaces/default/resourcequotas", { body: QUOTA });
    await first.ask("POST", "/api/v1/namespaces/default/configmaps", { body: map("counted") });
    await first.stop();

    await using second = await start(everything());
    const found = await Promise.all([
      second.ask("GET", `${GROUP}/namespaces/default/widgets/w`),
      second.ask("GET", "/api/v1/namespaces/default/services/s"),
      second.ask("GET", "/api/v1/namespaces/default/configmaps/counted"),
    ]);
    const refused = await second.ask("POST", "/api/v1/namespaces/default/services", { body: SERVICE });

    expect(made.code).toBe(201);
    expect(found.map(({ code }) => code)).toEqual([200, 200, 200]);
    expect(found[0].body).toMatchObject({ spec: { text: CLEAR } });
    expect(refused.body).toMatchObject({ reason: "AlreadyExists" });
    for (const needle of [CLEAR, "openAPIV3Schema", "clusterIP", '"kind"'])
      expect(filesWith(join(second.dataDir, "store"), needle)).toEqual([]);
  });
});

describePeer("etcd", "over etcd", () => {
  test("etcd holds what kube-apiserver would have put there, and watchers see objects", async () => {
    await using etcd = await EtcdServer.start();
    const store = { type: "etcd", etcd: { ...NOBODY, endpoints: [etcd.endpoint] } } as const;
    await using cluster = await RunningCluster.start(folder, {
      store,
      encryption: files(config(aesgcm("old"))),
    });
    const before = await cluster.ask("GET", SECRETS);
    await cluster.ask("POST", SECRETS, { body: secret("a") });
    await cluster.ask("PUT", `${SECRETS}/a`, { body: secret("a", "second value") });
    const at = text(before.body["metadata"]?.["resourceVersion"]);

    const seen = await cluster.ask("GET", `${SECRETS}?watch=1&timeoutSeconds=1&resourceVersion=${at}`);
    const same = await cluster.ask("PUT", `${SECRETS}/a`, { body: secret("a", "second value") });
    const again = await cluster.ask("PUT", `${SECRETS}/a`, { body: secret("a", "second value") });

    const [raw] = await readRange(etcd.endpoint, "/registry/secrets/default/a");
    expect(raw?.subarray(0, 22).toString()).toBe("k8s:enc:aesgcm:v1:old:");
    expect(raw?.includes(encoded("second value"))).toBe(false);
    expect(seen.text).toContain(encoded(CLEAR));
    expect(seen.text).toContain(encoded("second value"));
    expect(versionOf(again)).toBe(versionOf(same));
  });
});

describePeer("kubectl", "kubectl", (path) => {
  test("sees nothing of it, and moves all secrets to a new key in one command", async () => {
    const cluster = await start(config(aesgcm("old"), "identity: {}"));
    const kubectl = new Kubectl({ path, kubeconfig: cluster.kubeconfig, home: folder.path });
    await kubectl.ok("create", "secret", "generic", "s", `--from-literal=value=${CLEAR}`);
    const shown = await kubectl.ok("get", "secret", "s", "-o", "jsonpath={.data.value}");
    await cluster.stop();
    await using next = await start(config(aesgcm("new", "old")));
    const again = new Kubectl({ path, kubeconfig: next.kubeconfig, home: folder.path });

    const all = await again.ok("get", "secrets", "--all-namespaces", "-o", "json");
    await again.ok("replace", "-f", again.file("all.json", all));
    await next.stop();

    expect(shown).toBe(encoded(CLEAR));
    const stored = await storedBytes("/registry/secrets/default/s");
    expect(stored.toString("latin1")).toMatch(/^k8s:enc:aesgcm:v1:new:/);
  });
});

const NOBODY = {
  caFile: undefined,
  certFile: undefined,
  keyFile: undefined,
  user: undefined,
  passwordFile: undefined,
};
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "/apis/example.com/v1";
const SCHEMA = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
  },
};
const SERVICE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { ports: [{ port: 80 }] },
};
const QUOTA = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name: "q" },
  spec: { hard: { "count/configmaps": "5" } },
};

function map(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { value: CLEAR } };
}

function everything(): string {
  return config(aesgcm("old")).replace("[secrets]", "['*.*']");
}

/** Values of a key in etcd. */
async function readRange(endpoint: string, key: string): Promise<readonly Buffer[]> {
  const body = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const reply = await fetch(`${endpoint}/v3/kv/range`, { method: "POST", body });
  const { kvs = [] } = (await reply.json()) as { readonly kvs?: readonly { readonly value: string }[] };
  return kvs.map(({ value }) => Buffer.from(value, "base64"));
}

function aesgcm(...names: readonly (keyof typeof KEYS)[]): string {
  const keys = names.map((name) => `{name: ${name}, secret: ${KEYS[name]}}`);
  return `aesgcm: {keys: [${keys.join(", ")}]}`;
}

function config(...providers: readonly string[]): string {
  return `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
${providers.map((provider) => `  - ${provider}`).join("\n")}
`;
}

async function start(text: string | undefined): Promise<RunningCluster> {
  return await RunningCluster.start(folder, { encryption: text === undefined ? undefined : files(text) });
}

function files(text: string): ClusterOptions["encryption"] {
  const configFile = join(folder.path, "encryption.yaml");
  writeFileSync(configFile, text, { mode: 0o600 });
  return { configFile, keyFile: undefined };
}

function secret(name: string, value = CLEAR): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, data: { value: encoded(value) } };
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

function dataOf({ body }: { readonly body: RunningBody }): string {
  return Buffer.from((body["data"]?.["value"] ?? "") as string, "base64").toString();
}

function versionOf({ body }: { readonly body: RunningBody }): unknown {
  return body["metadata"]?.["resourceVersion"];
}

type RunningBody = Awaited<ReturnType<RunningCluster["ask"]>>["body"];

/** Every file of the folder that contains the text, including the database and its log. */
function filesWith(dir: string, needle: string): readonly string[] {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => readFileSync(path).includes(needle));
}

async function storedBytes(key: string): Promise<Buffer> {
  const store = await openFileStore({
    dir: storeFolder(join(folder.path, "data")),
    loop: createRealLoop({ name: "look" }),
  });
  const value = store.view.get(key)?.value ?? new Uint8Array();
  await store.close();
  return Buffer.from(value);
}
