/** Checks that the requester of a pod's certificate holds the private key. */

import { constants, createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { findRequestKey } from "../../api/certificates/certificate-request.ts";
import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { PodCertificateRequestSpec } from "../../api/generated/types/certificates-v1beta1.ts";
import { invalidWithoutValue } from "../rules/value-rules.ts";

type Spec = PodCertificateRequestSpec;

const KEY = fieldPath("spec", "pkixPublicKey");
const PROOF = fieldPath("spec", "proofOfPossession");
const REQUEST = fieldPath("spec", "stubPKCS10Request");
const MAX_BYTES = 10 * 1024;
/** OpenSSL's names of the curves P-256, P-384 and P-521. */
const CURVES = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const MODULUS_BITS = new Set([3072, 4096]);

/** Accepts either form: a PKCS#10 request that its key has signed, or a public key with a signature. */
export function checkProof(spec: Spec, errors: FieldErrors): void {
  for (const [path, text] of [
    [KEY, spec.pkixPublicKey],
    [PROOF, spec.proofOfPossession],
    [REQUEST, spec.stubPKCS10Request],
  ] as const)
    if (bytesOf(text).length > MAX_BYTES) return errors.tooLong(path, MAX_BYTES);
  if (bytesOf(spec.stubPKCS10Request).length > 0) checkRequest(spec, errors);
  else checkKey(spec, errors);
}

function checkRequest(spec: Spec, errors: FieldErrors): void {
  for (const [path, text] of [
    [KEY, spec.pkixPublicKey],
    [PROOF, spec.proofOfPossession],
  ] as const)
    if (bytesOf(text).length > 0) errors.forbidden(path, "must be empty when spec.stubPKCS10Request is set");
  const found = findRequestKey(bytesOf(spec.stubPKCS10Request));
  if (found === undefined)
    return invalidWithoutValue(REQUEST, "must be a valid PKCS#10 certificate signing request", errors);
  const problem = findKeyProblem(found.key);
  if (problem !== undefined) return errors.invalid(REQUEST, problem.value, problem.detail);
  if (!found.isProven) invalidWithoutValue(REQUEST, "could not verify proof-of-possession signature", errors);
}

function checkKey(spec: Spec, errors: FieldErrors): void {
  const key = findKey(spec);
  if (key === undefined)
    return errors.invalid(KEY, spec.pkixPublicKey, "must be a valid PKIX-serialized public key");
  const problem = findKeyProblem(key);
  if (problem !== undefined) return errors.invalid(KEY, problem.value, problem.detail);
  if (!isProven(key, spec))
    invalidWithoutValue(PROOF, "could not verify proof-of-possession signature", errors);
}

/** The public key for the certificate; undefined when the request has no readable key. */
export function findKey({ pkixPublicKey, stubPKCS10Request }: Spec): KeyObject | undefined {
  const request = bytesOf(stubPKCS10Request);
  if (request.length > 0) return findRequestKey(request)?.key;
  try {
    return createPublicKey({ key: bytesOf(pkixPublicKey), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

interface KeyProblem {
  readonly value: string;
  readonly detail: string;
}

function findKeyProblem({
  asymmetricKeyType: type,
  asymmetricKeyDetails,
}: KeyObject): KeyProblem | undefined {
  const { namedCurve = "", modulusLength = 0 } = asymmetricKeyDetails ?? {};
  const isGood =
    type === "ed25519" ||
    (type === "ec" && CURVES.has(namedCurve)) ||
    (type === "rsa" && MODULUS_BITS.has(modulusLength));
  if (isGood) return undefined;
  if (type === "ec")
    return { value: `curve ${namedCurve}`, detail: "elliptic public keys must use curve P256 or P384" };
  if (type === "rsa")
    return {
      value: `${String(modulusLength)}-bit modulus`,
      detail: "RSA keys must have modulus size 3072 or 4096",
    };
  return {
    value: type ?? "",
    detail: "unknown public key type; supported types are Ed25519, ECDSA, and RSA",
  };
}

/** The signature covers the pod's uid. */
function isProven(key: KeyObject, { podUID, proofOfPossession }: Spec): boolean {
  const padding =
    key.asymmetricKeyType === "rsa"
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
      : {};
  const digest = key.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  return verify(digest, Buffer.from(podUID), { key, ...padding }, bytesOf(proofOfPossession));
}

function bytesOf(base64: string | undefined): Buffer {
  return Buffer.from(base64 ?? "", "base64");
}
