import { describe, expect, test } from "vitest";
import { findCertificateProblem, trustProblems } from "./certificate-pem.ts";

const body = [
  "MIIBcjCCARegAwIBAgIUDWpEeRgL56NJKhW+KauasGu8X1swCgYIKoZIzj0EAwIw",
  "DTELMAkGA1UEAwwCaXQwIBcNMjYxMTE2MDgzMjE2WhgPMjEyNjEwMjMwODMyMTZa",
  "MA0xCzAJBgNVBAMMAml0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE851CZ0Tb",
  "rWblSqyPkyd7q+tRAlJbPY4ESkK+gPn0S9XP5dJdgwX6/mHHDcITcM5IWTQK7wWk",
  "aYwUmtD2MyQgbqNTMFEwHQYDVR0OBBYEFEdHsGId2kZqtHJ5GTSBHbPlbA4SMB8G",
  "A1UdIwQYMBaAFEdHsGId2kZqtHJ5GTSBHbPlbA4SMA8GA1UdEwEB/wQFMAMBAf8w",
  "CgYIKoZIzj0EAwIDSQAwRgIhAN9a2As9ENjnYHlUfvgd4MXeeG53p8Rf88SaWaOs",
  "FDsdAiEA2c0cTuEqhiB6tNKVcmP+wQgRESBDsUcp28n0SbsBse8=",
].join("\n");

/** A certificate without the CA bit. */
const leaf = [
  "MIIBcTCCARigAwIBAgIUY5TWH1d8Pm15EPoBTLzfEnveSTUwCgYIKoZIzj0EAwIw",
  "DzENMAsGA1UEAwwEbGVhZjAgFw0yNjExMTYwODQxNThaGA8yMTI2MTAyMzA4NDE1",
  "OFowDzENMAsGA1UEAwwEbGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMOz",
  "9Fbuq5dDBOTe2swPxQQgGZIgTN9yMoAGNX6mfscDS86IUr1Ul/+j5n0YNVZc2Naa",
  "MnNzS7odTheQHxjRkLijUDBOMB0GA1UdDgQWBBROQuicf3d5+iqYw6aVt4Z3lsxP",
  "yjAfBgNVHSMEGDAWgBROQuicf3d5+iqYw6aVt4Z3lsxPyjAMBgNVHRMBAf8EAjAA",
  "MAoGCCqGSM49BAMCA0cAMEQCIDtPuML2d7lvltT5Q8wQ/sANPdbXkPCrbv1iXRdj",
  "OGnKAiAgynPRJ08eoTqcmm/jKd8xYgZU8UIv/mtMj2R4+w74Qw==",
].join("\n");

function block(text: string, type = "CERTIFICATE"): string {
  return `-----BEGIN ${type}-----\n${text}\n-----END ${type}-----\n`;
}

describe("certificates in PEM", () => {
  test.each([
    ["none", ""],
    ["one", block(body)],
    ["two, with text around them", `a\n${block(body)}b\n${block(body)}c`],
  ])("are valid: %s", (_, pem) => {
    expect(findCertificateProblem(pem)).toBeUndefined();
  });

  test.each([
    ["words", "nothing", "must contain at least one CERTIFICATE PEM block"],
    ["no base64", block("a?"), "must contain at least one CERTIFICATE PEM block"],
    ["no end", block(body).slice(0, -20), "must contain at least one CERTIFICATE PEM block"],
    [
      "a key",
      `${block(body)}${block(body, "PRIVATE KEY")}`,
      'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
    ],
    ["headers", block(`a: b\n\n${body}`), "no PEM block headers are permitted"],
    ["an empty block", block(""), "found CERTIFICATE PEM block containing 0 certificates"],
    ["a block without a certificate", block("AAAA"), "x509: malformed certificate"],
  ])("are invalid: %s", (_, pem, problem) => {
    expect(findCertificateProblem(pem)).toBe(problem);
  });

  test.each([
    ["on lines of their own", "-----BEGIN CERTIFICATE-----\n"],
    ["on one line", "-----BEGIN "],
  ])("are found in one pass, also after many unfinished beginnings: %s", (_, beginning) => {
    const many = beginning.repeat(400_000);

    expect(findCertificateProblem(`${many}\n${block(body)}`)).toBeUndefined();
  });
});

describe("trust anchors", () => {
  test.each<[string, string, readonly string[]]>([
    ["one", `# a comment\n${block(body)}`, []],
    ["none", "words", ["at least one trust anchor must be provided"]],
    [
      "other blocks",
      `${block(body)}${block(body, "KEY")}${block("AAAA")}${block(`a: b\n\n${body}`)}`,
      ["entry 1 has bad block type: KEY", "entry 2 does not parse as X.509", "entry 3 has PEM block headers"],
    ],
    ["without the CA bit", block(leaf), ["entry 0 does not have the CA bit set"]],
    ["one twice", `${block(body)}${block(body)}`, ["duplicate trust anchor (indices [0 1])"]],
  ])("are checked: %s", (_, pem, problems) => {
    expect(trustProblems(pem)).toEqual(problems);
  });
});
