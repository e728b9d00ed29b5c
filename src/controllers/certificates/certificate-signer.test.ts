import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readCertificateRequest } from "../../api/certificates/certificate-request.ts";
import { x509 } from "../../base/keys/x509-library.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { certificateSigner } from "./certificate-signer.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const loop = createRealLoop({ name: "test" });

async function makeKeys() {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function makeAuthority(lifeMs: number): Promise<{ readonly cert: string; readonly key: string }> {
  const keys = await makeKeys();
  const made = await x509().X509CertificateGenerator.createSelfSigned({
    name: "CN=authority",
    notBefore: new Date(loop.now() - 1000),
    notAfter: new Date(loop.now() + lifeMs),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new (x509().BasicConstraintsExtension)(true, undefined, true)],
  });
  const bytes = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return {
    cert: made.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${bytes}\n-----END PRIVATE KEY-----\n`,
  };
}

/** Request in base64, as in a spec. `isStolen`: signed with a key other than the one in the request. */
async function makeRequest(isStolen: boolean): Promise<string> {
  const [own, other] = [await makeKeys(), await makeKeys()];
  const { privateKey } = isStolen ? other : own;
  const made = await x509().Pkcs10CertificateRequestGenerator.create({
    name: "O=dev,O=ops,CN=erin",
    keys: { privateKey, publicKey: own.publicKey },
    signingAlgorithm: ALGORITHM,
    extensions: [new (x509().SubjectAlternativeNameExtension)([{ type: "dns", value: "erin.example" }])],
  });
  return Buffer.from(made.toString("pem")).toString("base64");
}

async function signed(request: string, authorityLifeMs: number): Promise<X509Certificate | undefined> {
  const authority = await makeAuthority(authorityLifeMs);
  const content = readCertificateRequest(request);
  if (content === undefined) throw new Error("the certificate request is unreadable");
  const signer = certificateSigner({ ...authority, loop });
  const pem = await signer.sign({ content, usages: ["digital signature", "client auth"] }, 3600);
  if (pem === undefined) return undefined;
  const certificate = new X509Certificate(pem);
  expect(certificate.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  return certificate;
}

describe("the cluster's authority", () => {
  test("signs for exactly the requested subject, names and usages", async () => {
    const certificate = await signed(await makeRequest(false), 1e10);

    expect(certificate?.subject).toBe("O=dev\nO=ops\nCN=erin");
    expect(certificate?.subjectAltName).toBe("DNS:erin.example");
    expect(certificate?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate?.ca).toBe(false);
    const leftMs = Date.parse(certificate?.validTo ?? "") - loop.now();
    expect(leftMs).toBeGreaterThan(3_500_000);
    expect(leftMs).toBeLessThanOrEqual(3_600_000);
  });

  test("caps a certificate's validity at its own expiry", async () => {
    const certificate = await signed(await makeRequest(false), 60_000);

    expect(Date.parse(certificate?.validTo ?? "") - loop.now()).toBeLessThanOrEqual(60_000);
  });

  test("rejects a request whose signature does not match its key", async () => {
    expect(await signed(await makeRequest(true), 1e10)).toBeUndefined();
  });
});
