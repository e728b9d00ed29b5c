import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { readAuthentication } from "./authentication-files.ts";

const loop = createRealLoop({ name: "test" });

function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-authentication-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const ANONYMOUS = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: {enabled: true, conditions: [{path: /livez}]}
`;

describe("files of authentication", () => {
  test("become the server's options", async () => {
    const tokenFile = file("tokens.csv", "hush,alice,u1\n");
    const configFile = file("config.yaml", ANONYMOUS);

    expect(await readAuthentication({ tokenFile, configFile }, loop)).toMatchObject({
      staticTokens: [{ token: "hush", user: { name: "alice" } }],
      anonymous: { enabled: true, paths: ["/livez"] },
      jwt: { current: [] },
    });
  });

  test("replace the rules of issuers when they change and are valid", async () => {
    const configFile = file("config.yaml", ANONYMOUS);
    const read = await readAuthentication({ configFile }, loop);
    const issuer =
      "{issuer: {url: 'https://issuer.example', audiences: [me]}, claimMappings: {username: {claim: sub, prefix: ''}}}";

    read.file?.use(`${ANONYMOUS}jwt: [${issuer}]`);

    expect(() => read.file?.use("kind: Other")).toThrow(
      "config.yaml is not a valid AuthenticationConfiguration",
    );
    expect(read.jwt?.current).toMatchObject([{ issuer: { url: "https://issuer.example" } }]);
    expect(read.file).toMatchObject({ path: configFile, text: ANONYMOUS });
  });

  test("configure the token webhook", async () => {
    const kubeconfig = file(
      "w.conf",
      `clusters: [{name: w, cluster: {server: "https://tokens.example/review"}}]
users: [{name: me, user: {token: mine}}]
contexts: [{name: w, context: {cluster: w, user: me}}]
current-context: w
`,
    );

    const read = await readAuthentication({ webhook: { file: kubeconfig, version: "v1", ttlMs: 5 } }, loop);

    expect(read.webhook).toMatchObject({
      url: "https://tokens.example/review",
      headers: { authorization: "Bearer mine" },
      version: "v1",
      ttlMs: 5,
      timeoutMs: 30_000,
    });
  });

  test("that are invalid are named in the error, without their secrets", async () => {
    const tokenFile = file("tokens.csv", "hush\n");
    const configFile = file("config.yaml", "kind: Other\n");

    await expect(readAuthentication({ tokenFile }, loop)).rejects.toThrow(/tokens\.csv, line 1: must be/);
    await expect(readAuthentication({ tokenFile }, loop)).rejects.not.toThrow("hush");
    await expect(readAuthentication({ configFile }, loop)).rejects.toThrow(
      /config\.yaml is not a valid .*kind/s,
    );
    await expect(readAuthentication({ tokenFile: "/nowhere" }, loop)).rejects.toThrow("/nowhere");
  });

  test("exclude the options of the same purpose", async () => {
    const configFile = file("config.yaml", ANONYMOUS);

    await expect(readAuthentication({ configFile, isAnonymousAllowed: false }, loop)).rejects.toThrow(
      "--anonymous-auth cannot be given",
    );
    expect(await readAuthentication({ isAnonymousAllowed: false }, loop)).toMatchObject({
      anonymous: { enabled: false },
    });
  });

  test("cannot name the issuer of service accounts", async () => {
    const configFile = file(
      "config.yaml",
      `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: "https://kubernetes.default.svc.cluster.local", audiences: [a]}
  claimMappings: {username: {claim: sub, prefix: ""}}
`,
    );

    await expect(readAuthentication({ configFile }, loop)).rejects.toThrow("must not overlap");
  });
});
