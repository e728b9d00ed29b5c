/** Certificates by which others are known. */
import { X509Certificate } from "node:crypto";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * What is wrong with a bundle, in upstream's words; `undefined` when it holds a certificate, or when there is none: then those of the machine
 * count. `caBundle` is PEM in base64.
 */
export function findBundleMistake(caBundle = ""): string | undefined {
  if (caBundle === "") return undefined;
  const blocks = Buffer.from(caBundle, "base64").toString("latin1").match(CERTIFICATE) ?? [];
  if (blocks.some(isCertificate)) return undefined;
  const what = blocks.length === 0 ? "unable to parse bytes as PEM block" : "failed to parse certificate";
  return `unable to load root certificates: ${what}`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // What cannot be read is no certificate, for whatever reason.
    return false;
  }
}
