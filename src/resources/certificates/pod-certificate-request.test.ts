import { generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { describe, expect, test } from "vitest";
import { x509 } from "../../base/keys/x509-library.ts";
import { KindProbe } from "../rules/kind-probe.ts";
import type { Manifest } from "../rules/kind-probe.ts";
import { podCertificateRequest } from "./pod-certificate-request.ts";

const probe = new KindProbe(podCertificateRequest);
const ED25519 = generateKeyPairSync("ed25519");
const TIME = "2026-01-02T03:04:05Z";

function der(key: KeyObject): string {
  return key.export({ format: "der", type: "spki" }).toString("base64");
}

const proven = {
  pkixPublicKey: der(ED25519.publicKey),
  proofOfPossession: sign(null, Buffer.from("u1"), ED25519.privateKey).toString("base64"),
};

function request(more: Manifest = {}, status: Manifest = {}): Manifest {
  const spec = {
    signerName: "example.com/web",
    podName: "web",
    podUID: "u1",
    serviceAccountName: "robot",
    serviceAccountUID: "u2",
    nodeName: "n1",
    nodeUID: "u3",
    ...proven,
    ...more,
  };
  return { spec, status };
}

function decided(type: string, more: Manifest = {}, status = "True"): Manifest {
  return { conditions: [{ type, status, reason: "Why", message: "", lastTransitionTime: TIME }], ...more };
}

describe("a PodCertificateRequest", () => {
  test("accepts a proof of possession from every supported type of key", () => {
    const ec = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const rsa = generateKeyPairSync("rsa", { modulusLength: 3072 });
    const pss = { key: rsa.privateKey, padding: 6 };
    const bytes = Buffer.from("u1");

    expect(probe.problems(request())).toEqual([]);
    expect(
      probe.problems(
        request({
          pkixPublicKey: der(ec.publicKey),
          proofOfPossession: sign("sha256", bytes, ec.privateKey).toString("base64"),
        }),
      ),
    ).toEqual([]);
    expect(
      probe.problems(
        request({
          pkixPublicKey: der(rsa.publicKey),
          proofOfPossession: sign("sha256", bytes, pss).toString("base64"),
        }),
      ),
    ).toEqual([]);
  });

  test.each<[Manifest, string]>([
    [
      { podUID: "u9" },
      "spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature",
    ],
    [
      { pkixPublicKey: "AAAA" },
      'spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key',
    ],
    [
      { pkixPublicKey: der(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey) },
      'spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
    ],
    [{ nodeUID: "" }, 'spec.nodeUID: Invalid value: "": must not be empty'],
    [{ nodeUID: "x".repeat(129) }, "spec.nodeUID: Too long: may not be more than 128 bytes"],
    [{ signerName: "" }, "spec.signerName: Required value"],
    [
      { maxExpirationSeconds: 3599 },
      "spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]",
    ],
    [
      { maxExpirationSeconds: 86_401, signerName: "kubernetes.io/kube-apiserver-client-pod" },
      "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]",
    ],
    [
      { unverifiedUserAnnotations: { plain: "x" } },
      'spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [
      { stubPKCS10Request: "AAAA", pkixPublicKey: "", proofOfPossession: "" },
      "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 certificate signing request",
    ],
  ])("is refused: %j", (more, problem) => {
    expect(probe.problems(request(more))).toEqual([problem]);
  });

  test("has a lifetime of one day by default, and an immutable spec", () => {
    expect(probe.created(request())["spec"]).toMatchObject({ maxExpirationSeconds: 86_400 });
    expect(probe.updateProblems(request({ nodeName: "n2" }), request())).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ]);
  });
});

describe("the status of a PodCertificateRequest", () => {
  test.each(["Denied", "Failed"])("cannot change once it is %s", (type) => {
    const answered = request({}, decided(type));

    expect(probe.statusProblems(answered, request())).toEqual([]);
    expect(probe.statusProblems(request(), answered)).toEqual([
      "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed",
    ]);
  });

  test.each<[Manifest, string]>([
    [
      decided("Approved"),
      'status.conditions.[0].type: Unsupported value: "Approved": supported values: "Issued", "Denied", "Failed"',
    ],
    [
      decided("Denied", {}, "False"),
      'status.conditions.[0].status: Unsupported value: "False": supported values: "True"',
    ],
    [
      decided("Denied", { certificateChain: "x" }),
      "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest",
    ],
    [
      { certificateChain: "x" },
      'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
    ],
    [
      decided("Issued", { certificateChain: "x" }),
      'status.certificateChain: Invalid value: "x": issued certificate chain must contain at least one certificate',
    ],
  ])("is refused: %j", (status, problem) => {
    expect(probe.statusProblems(request({}, status), request())).toEqual([problem]);
  });

  test("has the current time as transition time by default, and is immutable", () => {
    const answer = (reason: string): Manifest =>
      request({}, { conditions: [{ type: "Denied", status: "True", reason, message: "" }] });
    const first = probe.statusUpdated(answer("No"), request());
    const second = probe.statusUpdated(answer("Never"), request({}, decided("Denied")));

    expect(first["status"]).toMatchObject({ conditions: [{ reason: "No", lastTransitionTime: TIME }] });
    expect(second["status"]).toEqual(decided("Denied"));
    expect(probe.statusProblems(answer("No"), request())).toEqual([]);
  });

  test("has a certificate for the requested key, with times equal to the certificate's", async () => {
    const { stub, chain } = await issue();
    const asked = { stubPKCS10Request: stub, pkixPublicKey: "", proofOfPossession: "" };
    const times = {
      notBefore: "2026-01-02T03:00:00Z",
      notAfter: "2026-01-02T09:00:00Z",
      beginRefreshAt: "2026-01-02T08:00:00Z",
    };
    const answer = (more: Manifest): readonly string[] =>
      probe.statusProblems(
        request(asked, decided("Issued", { certificateChain: chain, ...times, ...more })),
        request(asked),
      );

    expect(probe.problems(request(asked))).toEqual([]);
    expect(answer({})).toEqual([]);
    expect(answer({ notAfter: "2026-01-02T09:00:01Z" })).toEqual([
      'status.notAfter: Invalid value: "2026-01-02T09:00:01Z": must be set to the NotAfter time encoded in the leaf certificate',
    ]);
    expect(answer({ beginRefreshAt: "2026-01-02T08:55:00Z" })).toEqual([
      'status.beginRefreshAt: Invalid value: "2026-01-02T08:55:00Z": must be at least 10 minutes before status.notAfter',
    ]);
    expect(
      probe.statusProblems(request({}, decided("Issued", { certificateChain: chain, ...times })), request()),
    ).toEqual([
      expect.stringMatching(
        /^status\.certificateChain: .*: leaf certificate was not issued to the requested public key$/,
      ),
    ]);
  });
});

/** A request and a certificate of one key, valid for six hours. */
async function issue(): Promise<{ stub: string; chain: string }> {
  const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  const library = x509();
  const made = await library.Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm });
  const certificate = await library.X509CertificateGenerator.createSelfSigned({
    name: "CN=web",
    notBefore: new Date("2026-01-02T03:00:00Z"),
    notAfter: new Date("2026-01-02T09:00:00Z"),
    keys,
    signingAlgorithm,
  });
  return { stub: Buffer.from(made.rawData).toString("base64"), chain: certificate.toString("pem") };
}
