import { describe, expect, test } from "vitest";
import { readCertificateRequest } from "../../api/certificates/certificate-request.ts";
import type { CertificateRequest } from "../../api/certificates/certificate-request.ts";
import { validityOf } from "./certificate-signer.ts";
import { SIGNER_RULES } from "./signer-rules.ts";
import type { SigningRequest } from "./signer-rules.ts";

const NODE = { commonName: "system:node:n1", organizations: ["system:nodes"] };

function request(content: Partial<CertificateRequest>, usages: readonly string[]): SigningRequest {
  const nothing = { commonName: "", organizations: [], dnsNames: [], addresses: [], emails: [], uris: [] };
  return { content: { ...nothing, ...content } as CertificateRequest, usages };
}

function problem(
  signer: string,
  content: Partial<CertificateRequest>,
  usages: readonly string[],
): string | undefined {
  const rule = SIGNER_RULES.get(`kubernetes.io/${signer}`);
  if (rule === undefined) throw new Error(`there is no signer ${signer}`);
  return rule(request(content, usages));
}

describe("a signer", () => {
  test.each([
    ["kube-apiserver-client", { commonName: "erin" }, ["client auth"]],
    [
      "kube-apiserver-client",
      { commonName: "erin" },
      ["digital signature", "key encipherment", "client auth"],
    ],
    ["kube-apiserver-client-kubelet", NODE, ["digital signature", "client auth"]],
    ["kube-apiserver-client-kubelet", NODE, ["key encipherment", "digital signature", "client auth"]],
    ["kubelet-serving", { ...NODE, dnsNames: ["n1"] }, ["digital signature", "server auth"]],
    ["kubelet-serving", { ...NODE, addresses: ["10.0.0.1"] }, ["digital signature", "server auth"]],
    ["legacy-unknown", { commonName: "anything" }, ["code signing"]],
  ])("%s signs what it is for: %#", (signer, content, usages) => {
    expect(problem(signer, content, usages)).toBeUndefined();
  });

  test.each([
    [
      "kube-apiserver-client",
      {},
      ["client auth", "server auth"],
      "invalid usage for client certificate: server auth",
    ],
    [
      "kube-apiserver-client",
      {},
      ["digital signature"],
      "missing required usage for client certificate: client auth",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, organizations: ["system:masters"] },
      [],
      "organization is not system:nodes",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, organizations: ["system:nodes", "x"] },
      [],
      "organization is not system:nodes",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, commonName: "admin" },
      [],
      "does not begin with system:node:",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, dnsNames: ["a"] },
      [],
      "DNS subjectAltNames are not allowed",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, addresses: ["a"] },
      [],
      "IP subjectAltNames are not allowed",
    ],
    [
      "kube-apiserver-client-kubelet",
      { ...NODE, emails: ["a"] },
      [],
      "Email subjectAltNames are not allowed",
    ],
    ["kube-apiserver-client-kubelet", { ...NODE, uris: ["a"] }, [], "URI subjectAltNames are not allowed"],
    ["kube-apiserver-client-kubelet", NODE, ["client auth"], "usages did not match"],
    ["kube-apiserver-client-kubelet", NODE, ["digital signature", "server auth"], "usages did not match"],
    ["kubelet-serving", NODE, ["digital signature", "server auth"], "DNS or IP subjectAltName is required"],
    [
      "kubelet-serving",
      { ...NODE, dnsNames: ["a"] },
      ["digital signature", "client auth"],
      "usages did not match",
    ],
    [
      "kubelet-serving",
      { ...NODE, dnsNames: ["a"], commonName: "x" },
      ["digital signature", "server auth"],
      "does not begin",
    ],
  ])("%s says why it does not sign: %#", (...[signer, content, usages, message]) => {
    expect(problem(signer, content, usages)).toContain(message);
  });
});

describe("a certificate", () => {
  const HOUR_MS = 3_600_000;
  const NOW = Date.UTC(2026, 0, 1);

  test.each([
    [undefined, 365 * 24 * HOUR_MS - 300_000],
    [10 * 365 * 24 * 3600, 365 * 24 * HOUR_MS - 300_000],
    [600, 600_000],
    [60, 600_000],
    [3600, HOUR_MS],
    [24 * 3600, 24 * HOUR_MS - 300_000],
  ])("requested for %j seconds expires %d ms from now", (seconds, leftMs) => {
    const { notBefore, notAfter } = validityOf(seconds, NOW);

    expect(notAfter - NOW).toBe(leftMs);
    expect(NOW - notBefore).toBe(300_000);
  });

  test("is not made from text that is not a request", () => {
    expect(
      readCertificateRequest(Buffer.from("-----BEGIN CERTIFICATE REQUEST-----\nAA==\n").toString("base64")),
    ).toBeUndefined();
    expect(readCertificateRequest("")).toBeUndefined();
    expect(readCertificateRequest("A".repeat(1 << 20))).toBeUndefined();
  });
});
