/** CA bundles: the certificates by which a client verifies a server. */
import { pemBlocks } from "../../api/certificates/pem.ts";
import { findCertificate } from "./certificate-pem.ts";

/**
 * Upstream's error text for a bundle of PEM in base64; undefined when it holds a certificate. An empty bundle
 * is valid: the CAs of the machine apply.
 */
export function findBundleMistake(caBundle = ""): string | undefined {
  if (caBundle === "") return undefined;
  const blocks = [...pemBlocks(Buffer.from(caBundle, "base64").toString("latin1"))].filter(
    ({ label }) => label === "CERTIFICATE",
  );
  if (blocks.some(({ bytes }) => findCertificate(bytes) !== undefined)) return undefined;
  const what = blocks.length === 0 ? "unable to parse bytes as PEM block" : "failed to parse certificate";
  return `unable to load root certificates: ${what}`;
}
