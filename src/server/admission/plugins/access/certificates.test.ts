/** Tests the permissions that acting for a signer requires. */
import { describe, expect, test } from "vitest";
import type { AccessAttributes, Authorizer } from "../../../access/authz/authorizer.ts";
import { AdmissionFixture } from "../../admission-fixture.ts";
import type { TestedWrite, Written } from "../../admission-fixture.ts";
import { SAMPLE_REQUESTS } from "../../sample-requests.ts";

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const BUNDLES = "clustertrustbundles.certificates.k8s.io";

function request(status: object = {}, spec: object = {}): Written {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r" },
    spec: { request: SAMPLE_REQUESTS.administrator, signerName: "example.com/web", usages: [], ...spec },
    status,
  };
}

function bundle(metadata: object = {}): Written {
  return {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name: "example.com:web:a", ...metadata },
    spec: { signerName: "example.com/web", trustBundle: "…" },
  };
}

/** Allows one verb on one signer name; answers asynchronously, like a webhook authorizer. */
function allowing(verb: string, name: string): Authorizer {
  const decide = (asked: AccessAttributes): ReturnType<Authorizer["decide"]> => {
    const isSigner = asked.group === "certificates.k8s.io" && asked.resource === "signers";
    const outcome = isSigner && asked.verb === verb && asked.name === name ? "allowed" : "no opinion";
    return Promise.resolve({ outcome, reason: "" });
  };
  return { decide };
}

async function verdict(authorizer: Authorizer, write: TestedWrite): Promise<string> {
  return (await new AdmissionFixture({}, authorizer).attempt(write)).refusal;
}

const APPROVED = { conditions: [{ type: "Approved", status: "True" }] };
const WRITES: readonly (readonly [verb: string, write: TestedWrite, says: string])[] = [
  [
    "approve",
    { operation: "UPDATE", resource: `${REQUESTS}/approval`, object: request(APPROVED), previous: request() },
    `${REQUESTS} "r" is forbidden: user not permitted to approve requests with signerName "example.com/web"`,
  ],
  [
    "sign",
    {
      operation: "UPDATE",
      resource: `${REQUESTS}/status`,
      object: request({ certificate: "Yg==" }),
      previous: request(),
    },
    `${REQUESTS} "r" is forbidden: user not permitted to sign requests with signerName "example.com/web"`,
  ],
  [
    "attest",
    { operation: "CREATE", resource: BUNDLES, object: bundle() },
    `${BUNDLES} "example.com:web:a" is forbidden: user not permitted to attest for signerName "example.com/web"`,
  ],
];

const POD_REQUESTS = "podcertificaterequests.certificates.k8s.io";
const podRequest = (status: object): Written => ({
  apiVersion: "certificates.k8s.io/v1beta1",
  kind: "PodCertificateRequest",
  metadata: { name: "r", namespace: "default" },
  spec: { signerName: "example.com/web" },
  status,
});

test("issuing a certificate for a pod's request requires `sign` on its signer", async () => {
  const issue: TestedWrite = {
    operation: "UPDATE",
    resource: `${POD_REQUESTS}/status`,
    object: podRequest({ certificateChain: "x" }),
    previous: podRequest({}),
  };
  const deny: TestedWrite = { ...issue, object: podRequest({ conditions: [] }) };

  expect(await verdict(allowing("sign", "example.com/*"), issue)).toBe("");
  expect(await verdict(allowing("approve", "example.com/web"), issue)).toBe(
    'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "alice" is not permitted to "sign" for signer "example.com/web"',
  );
  expect(await verdict(allowing("approve", "example.com/web"), deny)).toBe("");
});

describe.each(WRITES)("to %s", (verb, write, says) => {
  test.each(["example.com/web", "example.com/*"])("requires the permission for %s", async (name) => {
    expect(await verdict(allowing(verb, name), write)).toBe("");
  });

  test("accepts no other permission", async () => {
    expect(await verdict(allowing(verb, "example.com/other"), write)).toBe(says);
    expect(await verdict(allowing("update", "example.com/web"), write)).toBe(says);
  });
});

test("an approval cannot change the signer to an allowed one", async () => {
  const object = request(APPROVED, { signerName: "mine.example.com/x" });
  const write = {
    operation: "UPDATE",
    resource: `${REQUESTS}/approval`,
    object,
    previous: request(),
  } as const;

  expect(await verdict(allowing("approve", "mine.example.com/x"), write)).toContain("example.com/web");
});

test("a status without certificate and conditions needs no permission, nor a bundle with new owners only", async () => {
  const nobody = allowing("", "");
  const status = { operation: "UPDATE", resource: `${REQUESTS}/status`, object: request() } as const;
  const owned = { operation: "UPDATE", resource: BUNDLES, object: bundle({ finalizers: ["a/b"] }) } as const;

  expect(await verdict(nobody, { ...status, previous: request() })).toBe("");
  expect(await verdict(nobody, { ...owned, previous: bundle() })).toBe("");
});

describe("a client certificate", () => {
  const ask = (spec: object): Promise<string> =>
    verdict(allowing("", ""), { operation: "CREATE", resource: REQUESTS, object: request({}, spec) });
  const signerName = "kubernetes.io/kube-apiserver-client";

  test("cannot be requested for the group system:masters", async () => {
    expect(await ask({ signerName })).toBe(
      `${REQUESTS} "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    );
  });

  test("may be requested for other groups and from other signers", async () => {
    expect(await ask({ signerName, request: SAMPLE_REQUESTS.nodeOne })).toBe("");
    expect(await ask({})).toBe("");
  });

  test("requires a request that can be parsed", async () => {
    expect(await ask({ signerName, request: "bm9uZQ==" })).toContain("failed to parse CSR");
  });
});
