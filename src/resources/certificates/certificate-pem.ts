/** Reads and checks PEM certificates that signers issue. */

import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../api/certificates/pem.ts";
import type { PemBlock } from "../../api/certificates/pem.ts";
import { quoted } from "../../api/values/message-text.ts";

const CERTIFICATE = "CERTIFICATE";

/** Error text for one or more certificates; undefined when all are valid or the text is empty. */
export function findCertificateProblem(pem: string): string | undefined {
  if (pem === "") return undefined;
  let count = 0;
  for (const block of pemBlocks(pem)) {
    const problem = blockProblem(block);
    if (problem !== undefined) return problem;
    count += 1;
  }
  return count === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

function blockProblem({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== CERTIFICATE) return `only CERTIFICATE PEM blocks are allowed, found ${quoted(label)}`;
  if (hasHeaders) return "no PEM block headers are permitted";
  if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
  return findCertificate(bytes) === undefined ? "x509: malformed certificate" : undefined;
}

export function findCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

/** Error texts for trust anchors: each must be a CA, and none may appear twice. */
export function trustProblems(pem: string): readonly string[] {
  const blocks = [...pemBlocks(pem)];
  const problems = blocks.flatMap((block, i) => anchorProblem(block, i) ?? []);
  if (problems.length > 0) return problems;
  if (blocks.length === 0) return ["at least one trust anchor must be provided"];
  const places = new Map<string, number[]>();
  for (const [i, { bytes }] of blocks.entries()) {
    const key = bytes.toString("base64");
    places.set(key, [...(places.get(key) ?? []), i]);
  }
  return [...places.values()].flatMap((indices) =>
    indices.length > 1 ? [`duplicate trust anchor (indices [${indices.join(" ")}])`] : [],
  );
}

function anchorProblem({ label, hasHeaders, bytes }: PemBlock, i: number): string | undefined {
  if (label !== CERTIFICATE) return `entry ${i} has bad block type: ${label}`;
  if (hasHeaders) return `entry ${i} has PEM block headers`;
  const certificate = findCertificate(bytes);
  if (certificate === undefined) return `entry ${i} does not parse as X.509`;
  return certificate.ca ? undefined : `entry ${i} does not have the CA bit set`;
}
