/** Certificates by which others are known. */
import { pemBlocks } from "../../api/certificates/pem.ts";
import { findCertificate } from "./certificate-pem.ts";

/**
 * What is wrong with a bundle, in upstream's words; `undefined` when it holds a certificate, or when there is none: then those of the machine
 * count. `caBundle` is PEM in base64.
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
