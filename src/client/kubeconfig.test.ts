import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { KubeconfigError } from "./kubeconfig-fields.ts";
import { loadKubeconfig } from "./kubeconfig-files.ts";
import { parseKubeconfig, resolveContext } from "./kubeconfig.ts";
import type { ResolvedContext } from "./kubeconfig.ts";

const loop = createRealLoop({ name: "test" });

interface Entries {
  readonly cluster?: object;
  readonly user?: object;
  readonly namespace?: string;
}

function textOf({ cluster, user, namespace }: Entries, name = "a"): string {
  return JSON.stringify({
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    clusters: [{ name, cluster: { server: "https://host:6443", ...cluster } }],
    users: [{ name, user: { ...user } }],
  });
}

function resolved(entries: Entries): ResolvedContext {
  return resolveContext(parseKubeconfig(textOf(entries), { file: "/etc/kube/config" }));
}

function folder(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-kubeconfig-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

describe("a kubeconfig", () => {
  test("reads certificates from data or from relative files; data wins", () => {
    const data = Buffer.from("PEM").toString("base64");

    const { endpoint, namespace } = resolved({
      cluster: { "certificate-authority": "ca.pem", "tls-server-name": "kubernetes" },
      user: { "client-certificate": "x.pem", "client-certificate-data": data, "client-key": "/abs/key.pem" },
      namespace: "mine",
    });

    expect(namespace).toBe("mine");
    expect(endpoint).toEqual({
      server: "https://host:6443",
      ca: { file: "/etc/kube/ca.pem" },
      tlsServerName: "kubernetes",
      user: { certificate: { text: "PEM" }, key: { file: "/abs/key.pem" } },
    });
  });

  test("reads tokens; a file wins over a text", () => {
    expect(resolved({ user: { token: "t" } }).endpoint.user).toEqual({ token: { text: "t" } });
    expect(resolved({ user: { token: "t", tokenFile: "token" } }).endpoint.user).toEqual({
      token: { file: "/etc/kube/token" },
    });
  });

  test("reads exec plugins; a path is relative to the kubeconfig, a name is searched on PATH", () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "./login",
      args: ["-x"],
      env: [{ name: "A", value: "b" }],
      provideClusterInfo: true,
      interactiveMode: "IfAvailable",
      installHint: "get it",
    };

    expect(resolved({ user: { exec } }).endpoint.user?.exec).toEqual({
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "/etc/kube/login",
      args: ["-x"],
      env: { A: "b" },
      provideClusterInfo: true,
      installHint: "get it",
    });
    expect(resolved({ user: { exec: { ...exec, command: "aws" } } }).endpoint.user?.exec?.command).toBe(
      "aws",
    );
  });

  test("reads the impersonated user", () => {
    const user = { as: "jane", "as-groups": ["dev"], "as-uid": "7", "as-user-extra": { reason: ["x"] } };

    expect(resolved({ user }).endpoint.user?.impersonation).toEqual({
      user: "jane",
      groups: ["dev"],
      uid: "7",
      extra: { reason: ["x"] },
    });
  });

  test("is parsed as YAML", () => {
    const text =
      "clusters:\n- name: a\n  cluster: {server: 'http://x'}\ncontexts:\n- {name: a, context: {cluster: a}}\n";

    expect(resolveContext(parseKubeconfig(text, { file: "/x" }), "a").endpoint).toEqual({
      server: "http://x",
    });
  });

  test.each<[string, Entries, string]>([
    ["no server", { cluster: { server: "" } }, "clusters[0].cluster.server is missing"],
    ["a server that is no URL", { cluster: { server: "host" } }, "clusters[0].cluster.server must be a URL"],
    ["a proxy", { cluster: { "proxy-url": "http://p" } }, "clusters[0].cluster.proxy-url is not supported"],
    [
      "insecure-skip-tls-verify beside an authority",
      { cluster: { "insecure-skip-tls-verify": true, "certificate-authority": "ca" } },
      "clusters[0].cluster.insecure-skip-tls-verify makes no sense",
    ],
    [
      "data that is not base64",
      { cluster: { "certificate-authority-data": "%%" } },
      "certificate-authority-data must be base64",
    ],
    [
      "a certificate without key",
      { user: { "client-certificate": "a" } },
      "users[0].user.client-key is missing",
    ],
    [
      "a key without certificate",
      { user: { "client-key": "a" } },
      "users[0].user.client-certificate is missing",
    ],
    ["a password", { user: { username: "a", password: "b" } }, "users[0].user.username and password are not"],
    ["an auth provider", { user: { "auth-provider": {} } }, "users[0].user.auth-provider is not supported"],
    ["a number for a token", { user: { token: 7 } }, "users[0].user.token must be a text"],
    [
      "an unknown exec version",
      { user: { exec: { apiVersion: "x", command: "a" } } },
      "exec.apiVersion must be",
    ],
    [
      "an interactive plugin",
      {
        user: {
          exec: { apiVersion: "client.authentication.k8s.io/v1", command: "a", interactiveMode: "Always" },
        },
      },
      "exec.interactiveMode must not be Always",
    ],
  ])("with %s is rejected by one line that names file and field", (_, entries, message) => {
    expect(() => resolved(entries)).toThrow(KubeconfigError);
    expect(() => resolved(entries)).toThrow(message);
    expect(() => resolved(entries)).toThrow(/^\/etc\/kube\/config: [^\n]*$/);
  });

  test.each([
    ["a: [", "is not a kubeconfig"],
    ["just text", "is not a kubeconfig: expected"],
    ["clusters: {}", "clusters must be a list"],
    ["clusters: [{cluster: {}}]", "clusters[0].name is missing"],
    ["users: [7]", "users[0] must be an object"],
  ])("%j is rejected", (text, message) => {
    expect(() => parseKubeconfig(text, { file: "/x" })).toThrow(message);
  });

  test("ignores an invalid entry that no context uses", () => {
    const text = textOf({}).replace('"users":[', '"users":[{"name":"other","user":{"token":7}},');

    expect(resolveContext(parseKubeconfig(text, { file: "/x" })).endpoint.server).toBe("https://host:6443");
  });

  test("lists the existing names when a name is unknown", () => {
    const config = parseKubeconfig(textOf({}), { file: "/x" });

    expect(() => resolveContext(config, "b")).toThrow('there is no context named "b", only "a"');
    expect(() => resolveContext(parseKubeconfig("{}", { file: "/x" }))).toThrow(
      "the kubeconfig has no contexts",
    );
  });
});

describe("loadKubeconfig", () => {
  test("merges the files of KUBECONFIG: the first file that defines a name wins", async () => {
    const dir = folder({
      one: textOf({ cluster: { server: "https://one" } }, "a"),
      two: JSON.stringify({
        ...(JSON.parse(textOf({ cluster: { server: "https://two" } }, "b")) as object),
        users: [
          { name: "a", user: { token: "never" } },
          { name: "b", user: { token: "two" } },
        ],
      }),
    });
    const KUBECONFIG = [join(dir, "one"), join(dir, "absent"), join(dir, "two")].join(delimiter);

    const config = await loadKubeconfig({ loop, env: { KUBECONFIG } });

    expect(config.currentContext).toBe("a");
    expect(resolveContext(config).endpoint).toEqual({ server: "https://one", user: {} });
    expect(resolveContext(config, "b").endpoint).toEqual({
      server: "https://two",
      user: { token: { text: "two" } },
    });
  });

  test("reads the text or the file that is given", async () => {
    const dir = folder({ config: textOf({ user: { tokenFile: "token" } }) });

    const config = await loadKubeconfig({ loop, file: join(dir, "config") });
    const given = await loadKubeconfig({ loop, text: textOf({}) });

    expect(resolveContext(config).endpoint.user).toEqual({ token: { file: join(dir, "token") } });
    expect(resolveContext(given).endpoint.server).toBe("https://host:6443");
  });

  test("reads the home folder, then the pod's service account", async () => {
    const dir = folder({ namespace: "mine\n" });
    const env = { HOME: dir, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

    const config = await loadKubeconfig({ loop, env, serviceAccountDir: dir });

    expect(resolveContext(config)).toEqual({
      endpoint: {
        server: "https://[fd00::1]:443",
        ca: { file: join(dir, "ca.crt") },
        user: { token: { file: join(dir, "token") } },
      },
      namespace: "mine",
    });
  });

  test.each<[string, (dir: string) => object, string]>([
    ["nothing is there", (dir) => ({ env: { HOME: dir } }), "no cluster is known: set KUBECONFIG"],
    ["the file is not there", (dir) => ({ file: join(dir, "x") }), "there is no kubeconfig at"],
    ["the file is a folder", (dir) => ({ file: dir }), "cannot be read"],
    [
      "none of the listed files exists",
      (dir) => ({ env: { KUBECONFIG: join(dir, "x") } }),
      "KUBECONFIG names no file",
    ],
  ])("says what to do when %s", async (_, search, message) => {
    await expect(loadKubeconfig({ loop, ...search(folder({})) })).rejects.toThrow(message);
  });
});
