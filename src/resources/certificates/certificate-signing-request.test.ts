import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { CertificateSigningRequest } from "../../api/generated/types/certificates-v1.ts";
import { KindProbe } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import {
  certificateSigningRequest,
  prepareApproval,
  validateApproval,
} from "./certificate-signing-request.ts";

const probe = new KindProbe(certificateSigningRequest);
const DER =
  "MIHNMHQCAQAwEjEQMA4GA1UEAwwHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAyotWBRxc8xZKsJRzkoZCVKnZuBpg4ix8fzRjcO" +
  "kx43gnWZsJqzX4o9o9ZVU1YqxToAQL8tUzObo49BsG08grGgADAKBggqhkjOPQQDAgNJADBGAiEAonmMBCfueKf9yio2guUJY84iBvs//d3GAmGc" +
  "4JrSXXECIQDpO7eI1Krl+yTjI1z/CfGosjdhI//4nb3568xJMkKT2g==";
const CERTIFICATE_DER =
  "MIIBfDCCASGgAwIBAgIUAub73qxdwbDXe1xXj3+8aOByoEIwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHbWluaW1hbDAgFw0yNjExMTUwNjEyMzha" +
  "GA8yMTI2MTAyMjA2MTIzOFowEjEQMA4GA1UEAwwHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAyotWBRxc8xZKsJRzkoZCVKnZuB" +
  "pg4ix8fzRjcOkx43gnWZsJqzX4o9o9ZVU1YqxToAQL8tUzObo49BsG08grGjUzBRMB0GA1UdDgQWBBTr9Ia5nHviBQHKs2GKPlK8YWpH8DAfBgNV" +
  "HSMEGDAWgBTr9Ia5nHviBQHKs2GKPlK8YWpH8DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCtAWgK65BCwTyzbuz/CHfPlMvm" +
  "aex/s17Vzb007l1wUgIhAIUmPfnuC0Ko2IDJIAzlaxpc3EWRQL0O6qvpYc9FWnjP";

function pem(label: string, ...body: readonly string[]): string {
  const text = [`-----BEGIN ${label}-----`, ...body, `-----END ${label}-----`, ""].join("\n");
  return Buffer.from(text).toString("base64");
}

/** The same request with another subject, so that its signature does not match. */
const FORGED_DER = DER.replace("bWluaW1hbD", "bWluaW1hbT");
const request = pem("CERTIFICATE REQUEST", DER);
const spec = { request, signerName: "example.com/signer", usages: ["client auth"] };
const approved = { conditions: [{ type: "Approved", status: "True" }] };

describe("a CertificateSigningRequest", () => {
  test("records the user who sent it", () => {
    const claimed = {
      username: "root",
      uid: "0",
      groups: ["system:masters"],
      extra: { "example.com/team": ["z"] },
    };

    const stored = probe.created({ spec: { ...spec, ...claimed } });

    expect(stored["spec"]).toEqual({
      ...spec,
      username: "alice",
      uid: "u1",
      groups: ["system:authenticated"],
      extra: { "example.com/team": ["a"] },
    });
  });

  test("has an immutable spec", () => {
    expect(probe.updated({ spec: { ...spec, signerName: "b.c/d" } }, { spec })).toMatchObject({
      spec: { signerName: "example.com/signer" },
    });
  });

  test.each([
    [spec, []],
    [
      { ...spec, request: "AA==" },
      ['spec.request: Invalid value: "AA==": PEM block type must be CERTIFICATE REQUEST'],
    ],
    [
      { ...spec, request: pem("NEW CERTIFICATE REQUEST", DER) },
      [expect.stringContaining("PEM block type must be CERTIFICATE REQUEST")],
    ],
    [
      { ...spec, request: pem("CERTIFICATE REQUEST", "AA==") },
      [expect.stringContaining("x509: malformed certificate request")],
    ],
    [
      { ...spec, request: pem("CERTIFICATE REQUEST", FORGED_DER) },
      [expect.stringContaining("x509: the signature is not one of the key in the request")],
    ],
    [{ ...spec, usages: [] }, ["spec.usages: Required value"]],
    [{ ...spec, signerName: "" }, ["spec.signerName: Required value"]],
    [
      { ...spec, signerName: "a" },
      [
        `spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      ],
    ],
    [
      { ...spec, signerName: "a/b" },
      [
        'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      { ...spec, expirationSeconds: 599 },
      [
        "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)",
      ],
    ],
  ])("has a valid signer, request, usages and expiration: %#", (it, problems) => {
    expect(probe.problems({ spec: it })).toEqual(problems);
  });

  test.each(["Approved", "Denied"])("cannot be set to %s by its signer, and a decision stays", (type) => {
    const decided = { spec, status: { conditions: [{ type, status: "True" }] } };

    expect(probe.statusProblems(decided, { spec })).toEqual([
      `status.conditions: Forbidden: updates may not add a condition of type "${type}"`,
    ]);
    expect(probe.statusProblems({ spec }, decided)).toEqual([
      `status.conditions: Forbidden: updates may not remove a condition of type "${type}"`,
    ]);
  });

  test("keeps the message of a decision when its signer writes another", () => {
    const words = (message: string): object => ({ type: "Approved", status: "True", message });
    const failed = { type: "Failed", status: "True" };

    const { status } = probe.statusUpdated(
      { spec, status: { conditions: [failed, words("by me")] } },
      { spec, status: { conditions: [words("by the signer")] } },
    );

    expect(status).toMatchObject({ conditions: [failed, words("by the signer")] });
  });

  test.each([
    [pem("CERTIFICATE", CERTIFICATE_DER), []],
    ["AA==", ["must contain at least one CERTIFICATE PEM block"]],
    [pem("PRIVATE KEY", "AA=="), ['only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"']],
    [pem("CERTIFICATE", "a: b", "", CERTIFICATE_DER), ["no PEM block headers are permitted"]],
    [pem("CERTIFICATE"), ["found CERTIFICATE PEM block containing 0 certificates"]],
    [pem("CERTIFICATE", "AA=="), ["x509: malformed certificate"]],
  ])("accepts only certificates: %#", (certificate, problems) => {
    expect(probe.statusProblems({ spec, status: { certificate } }, { spec })).toEqual(
      problems.map((problem) => `status.certificate: Invalid value: "<certificate data>": ${problem}`),
    );
  });

  test("keeps its certificate once issued", () => {
    const previous = { spec, status: { certificate: "AA==" } };

    expect(probe.statusProblems({ spec, status: { certificate: "AQ==" } }, previous)).toEqual([
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
      "status.certificate: Forbidden: updates may not modify existing certificate content",
    ]);
    expect(probe.statusProblems(previous)).toEqual([]);
  });

  test.each([
    [{}, "Pending"],
    [approved, "Approved"],
    [{ conditions: [{ type: "Denied", status: "True" }] }, "Denied"],
    [{ ...approved, certificate: "AA==" }, "Approved,Issued"],
  ])("shows its conditions: %#", (status, text) => {
    expect(probe.cells({ spec: { ...spec, expirationSeconds: 3600 }, status })).toEqual([
      "it",
      "2m5s",
      "example.com/signer",
      "",
      "60m",
      text,
    ]);
  });
});

describe("an approval", () => {
  function approval(conditions: readonly object[], before: readonly object[] = []): readonly string[] {
    const errors = new FieldErrors();
    const previous = probe.read({
      spec,
      status: { conditions: before },
    }) as Draft<CertificateSigningRequest>;
    const draft = probe.read({
      spec,
      status: { conditions, certificate: "AA==" },
    }) as Draft<CertificateSigningRequest>;
    prepareApproval(draft, previous, {
      now: 0,
      user: { name: "bob", uid: "", groups: [], extra: {} },
    });
    validateApproval(draft, previous, errors);
    expect(draft.status).not.toHaveProperty("certificate");
    return errors.found.map(fieldErrorText);
  }
  const yes = { type: "Approved", status: "True" };
  const no = { type: "Denied", status: "True" };

  test("is either Approved or Denied, and is final", () => {
    expect(approval([yes])).toEqual([]);
    const failed = { type: "Failed", status: "True" };
    expect(approval([yes, no, failed])).toEqual([
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    expect(approval([], [yes])).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(approval([{ type: "Approved", status: "False" }])).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
  });
});
