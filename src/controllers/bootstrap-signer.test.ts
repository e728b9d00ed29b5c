import { describe, expect, test } from "vitest";
import type { Secret } from "../api/generated/types/core-v1.ts";
import { signedData } from "./bootstrap-signer.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const INFO = { kubeconfig: "payload" };
/** Signature that kubeadm computes for this token and content. */
const SIGNATURE = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958";

describe("the cluster-info data", () => {
  test("is signed with each token, in the format that kubeadm verifies", () => {
    expect(signedData(INFO, [token()], NOW)).toEqual({ ...INFO, "jws-kubeconfig-abc123": SIGNATURE });
  });

  test("loses the signature of a deleted token", () => {
    expect(signedData({ ...INFO, "jws-kubeconfig-abc123": SIGNATURE }, [], NOW)).toEqual(INFO);
  });

  test.each<[string, Secret]>([
    ["is not for signing", token({ "usage-bootstrap-signing": "false" })],
    ["has expired", token({ expiration: "2025-12-31T23:59:59Z" })],
    ["has another id than its name", token({ "token-id": "xyz789" })],
    ["has no secret", token({ "token-secret": "" })],
    ["is of another type", { ...token(), type: "Opaque" }],
  ])("is not signed with a token that %s", (_, secret) => {
    expect(signedData(INFO, [secret], NOW)).toEqual(INFO);
  });

  test("stays unchanged without a kubeconfig", () => {
    const data = { "jws-kubeconfig-abc123": "old" };

    expect(signedData(data, [token()], NOW)).toBe(data);
  });
});

function token(changes: Readonly<Record<string, string>> = {}): Secret {
  const texts = {
    "token-id": "abc123",
    "token-secret": "tokenSecret",
    "usage-bootstrap-signing": "true",
    ...changes,
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "kube-system",
      name: "bootstrap-token-abc123",
      uid: "1",
      resourceVersion: "1",
      creationTimestamp: "",
    },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
    ),
  };
}
