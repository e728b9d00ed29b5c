/** Checks whether an existing certificate is still usable, with Node's own X.509 parser. */
import { X509Certificate, createPrivateKey, type KeyObject } from "node:crypto";
import { findIpAddress } from "../../api/values/ip-address.ts";

/** A start renews certificates this long before they expire. */
const RENEWAL_MS = 30 * 24 * 3_600_000;

/** Reason to issue a certificate again. An `expiring` certificate is still usable. */
export type Fault = Age | "of another key" | "of another authority" | "without a name it needs";

type Age = "expiring" | "expired";

export interface Expectation {
  readonly key: KeyObject;
  readonly authority: X509Certificate;
  readonly names: readonly string[];
  readonly now: number;
}

/** The worst fault, if any. Extra names in the certificate are no fault. */
export function findFault(
  cert: X509Certificate,
  { key, authority, names, now }: Expectation,
): Fault | undefined {
  if (!cert.checkPrivateKey(key)) return "of another key";
  if (!cert.checkIssued(authority) || !cert.verify(authority.publicKey)) return "of another authority";
  if (!names.every((name) => isNamed(cert, name))) return "without a name it needs";
  return findAge(cert, now);
}

export function findAge(cert: X509Certificate, now: number): Age | undefined {
  const leftMs = Date.parse(cert.validTo) - now;
  if (leftMs <= 0) return "expired";
  return leftMs < RENEWAL_MS ? "expiring" : undefined;
}

export function isSelfSigned(cert: X509Certificate): boolean {
  return cert.checkIssued(cert);
}

/** Throws an error that names the file if it holds no certificate. */
export function parseCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`${path} is not a certificate in PEM: put the right one there or remove it`, { cause });
  }
}

/** Throws an error that names the file if it holds no private key. */
export function parsePrivateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new Error(`${path} is not a private key in PEM: put the right one there or remove it`, { cause });
  }
}

function isNamed(cert: X509Certificate, name: string): boolean {
  const found = findIpAddress(name) === undefined ? cert.checkHost(name) : cert.checkIP(name);
  return found !== undefined;
}
