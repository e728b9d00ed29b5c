import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { readAuthorization } from "./authorization-files.ts";
import type { AuthorizationFlags } from "./authorization-files.ts";

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: "https://127.0.0.1:9443/authorize", certificate-authority: ca.crt } }]
users: [{ name: u, user: { token: secret } }]
`;

const CONFIGURATION = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: w
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    failurePolicy: NoOpinion
    connectionInfo: { type: KubeConfigFile, kubeConfigFile: webhook.conf }
- { type: RBAC, name: r }
`;

describe("files of authorization", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-authorization-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  beforeAll(() => {
    file("ca.crt", "PEM\n");
    file("webhook.conf", KUBECONFIG);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function read(flags: AuthorizationFlags | undefined): ReturnType<typeof readAuthorization> {
    return readAuthorization(flags, createRealLoop({ name: "test" }));
  }

  const called = {
    url: "https://127.0.0.1:9443/authorize",
    ca: "PEM\n",
    pair: undefined,
    headers: { authorization: "Bearer secret" },
  };

  test("name webhook kubeconfigs relative to their own folder", async () => {
    const configFile = file("authorization.yaml", CONFIGURATION);

    expect(await read({ configFile })).toMatchObject([
      { type: "Webhook", name: "w", version: "v1", timeoutMs: 3000, onFailure: "no opinion", ...called },
      { type: "RBAC" },
    ]);
  });

  test("give the same webhook as the modes", async () => {
    const ttls = { authorizedTtlMs: 1, unauthorizedTtlMs: 2 };
    const flags = {
      modes: ["RBAC", "Webhook"],
      webhookFile: join(folder, "webhook.conf"),
      webhookVersion: "v1",
    } as const;

    expect(await read({ ...flags, ...ttls })).toMatchObject([
      { type: "RBAC" },
      { type: "Webhook", ...ttls, ...called },
    ]);
    expect(await read(undefined)).toBeUndefined();
  });

  test("that are invalid are named in the error, without their content", async () => {
    const configFile = file("bad.yaml", CONFIGURATION.replace("RBAC", "Magic"));

    await expect(read({ configFile })).rejects.toThrow("bad.yaml is not a valid AuthorizationConfiguration");
    await expect(read({ configFile: join(folder, "none.yaml") })).rejects.toThrow("none.yaml");
  });
});
