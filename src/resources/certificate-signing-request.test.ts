import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../api/field-error.ts";
import type { CertificateSigningRequest } from "../api/generated/types/certificates-v1.ts";
import {
  certificateSigningRequest,
  prepareApproval,
  validateApproval,
} from "./certificate-signing-request.ts";
import { KindProbe } from "./kind-probe.ts";
import type { Draft } from "./kind-rules.ts";

const probe = new KindProbe(certificateSigningRequest);
const request = Buffer.from(
  "-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n",
).toString("base64");
const spec = { request, signerName: "example.com/signer", usages: ["client auth"] };
const approved = { conditions: [{ type: "Approved", status: "True" }] };

describe("a CertificateSigningRequest", () => {
  test("is asked for by whoever sent it", () => {
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

  test("does not change", () => {
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
  ])("says what for and by whom to be signed: %#", (it, problems) => {
    expect(probe.problems({ spec: it })).toEqual(problems);
  });

  test("is not approved by its signer", () => {
    const next = { spec, status: { ...approved, certificate: "AA==" } };

    expect(probe.statusUpdated(next, { spec })).not.toHaveProperty("status.conditions");
    expect(
      probe.statusUpdated({ spec, status: { certificate: "AA==" } }, { spec, status: approved }),
    ).toMatchObject({
      status: { certificate: "AA==", conditions: [{ type: "Approved" }] },
    });
  });

  test("keeps its certificate", () => {
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
  ])("is shown with what became of it: %#", (status, text) => {
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
    }) as unknown as CertificateSigningRequest;
    const draft = probe.read({
      spec,
      status: { conditions, certificate: "AA==" },
    }) as unknown as Draft<CertificateSigningRequest>;
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

  test("is yes or no, and stays", () => {
    expect(approval([yes])).toEqual([]);
    expect(approval([yes, no])).toEqual([
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    expect(approval([], [yes])).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(approval([{ type: "Approved", status: "False" }])).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
  });
});
