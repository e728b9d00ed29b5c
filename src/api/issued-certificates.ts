/** Certificates as those who sign hand them out: one or more blocks of PEM, and nothing else. */
import { X509Certificate } from "node:crypto";
import { pemBlocks } from "./pem.ts";
import type { PemBlock } from "./pem.ts";

const LABEL = "CERTIFICATE";

/** Why it is none, in upstream's words; undefined when there is nothing wrong, and for an empty text. */
export function findCertificateProblem(pem: string): string | undefined {
  if (pem === "") return undefined;
  const blocks = [...pemBlocks(pem)];
  if (blocks.length === 0) return `must contain at least one ${LABEL} PEM block`;
  return blocks.map(findBlockProblem).find((problem) => problem !== undefined);
}

function findBlockProblem({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== LABEL) return `only ${LABEL} PEM blocks are allowed, found ${JSON.stringify(label)}`;
  if (hasHeaders) return "no PEM block headers are permitted";
  if (bytes.length === 0) return `found ${LABEL} PEM block containing 0 certificates`;
  try {
    return new X509Certificate(bytes).raw.length > 0 ? undefined : "x509: malformed certificate";
  } catch {
    return "x509: malformed certificate";
  }
}
