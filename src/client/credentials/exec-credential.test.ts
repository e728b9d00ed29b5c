import { describe, expect, test } from "vitest";
import type { ExecPlugin } from "../endpoint.ts";
import { execInfo, parseExecCredential } from "./exec-credential.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const PLUGIN: ExecPlugin = { apiVersion, command: "x", args: [], env: {}, provideClusterInfo: true };

function output(status: object, given: object = {}): string {
  return JSON.stringify({ apiVersion, kind: "ExecCredential", status, ...given });
}

describe("exec credentials", () => {
  test("the plugin receives its cluster if it asks for it", () => {
    const endpoint = { server: "https://a", tlsServerName: "b", verification: "none" } as const;

    expect(JSON.parse(execInfo(PLUGIN, endpoint, "CA"))).toEqual({
      apiVersion,
      kind: "ExecCredential",
      spec: {
        interactive: false,
        cluster: {
          server: "https://a",
          "tls-server-name": "b",
          "insecure-skip-tls-verify": true,
          "certificate-authority-data": "Q0E=",
        },
      },
    });
    expect(JSON.parse(execInfo({ ...PLUGIN, provideClusterInfo: false }, endpoint, "CA"))).toMatchObject({
      spec: { interactive: false },
    });
  });

  test("a credential has a token, a certificate and a time of expiry", () => {
    const status = {
      token: "t",
      clientCertificateData: "c",
      clientKeyData: "k",
      expirationTimestamp: "2026-01-01T00:00:00Z",
    };

    expect(parseExecCredential(output(status), PLUGIN)).toEqual({
      token: "t",
      cert: "c",
      key: "k",
      expiresAt: Date.UTC(2026, 0, 1),
    });
  });

  test.each([
    ["invalid JSON", "nonsense"],
    ["a list", "[]"],
    ["another kind", output({ token: "t" }, { kind: "Secret" })],
    ["another version", output({ token: "t" }, { apiVersion: "client.authentication.k8s.io/v1beta1" })],
    ["an empty status", output({})],
    ["half a certificate", output({ token: "t", clientCertificateData: "c" })],
    ["an invalid time", output({ token: "t", expirationTimestamp: "soon" })],
  ])("rejects %s", (_, text) => {
    expect(() => parseExecCredential(text, PLUGIN)).toThrow(/^(it|"soon")/);
  });
});
