import { describe, expect, test } from "vitest";
import { findCertificateProblem } from "./certificate-pem.ts";

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

function block(text: string, type = "CERTIFICATE"): string {
  return `-----BEGIN ${type}-----\n${text}\n-----END ${type}-----\n`;
}

describe("certificates in PEM", () => {
  test.each([
    ["none", ""],
    ["one", block(body)],
    ["two, with words around them", `a\n${block(body)}b\n${block(body)}c`],
  ])("are good: %s", (_, pem) => {
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
    ["nothing in it", block(""), "found CERTIFICATE PEM block containing 0 certificates"],
    ["no certificate", block("AAAA"), "x509: malformed certificate"],
  ])("are not good: %s", (_, pem, problem) => {
    expect(findCertificateProblem(pem)).toBe(problem);
  });

  test("are looked for in one pass", () => {
    const many = "-----BEGIN CERTIFICATE-----\n".repeat(100_000);

    expect(findCertificateProblem(`${many}${block(body)}`)).toBeUndefined();
  });
});
