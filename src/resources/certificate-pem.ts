/** Certificates in PEM, as signers hand them out. */

import { X509Certificate } from "node:crypto";
import { quoted } from "../api/message-text.ts";

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";
const CERTIFICATE = "CERTIFICATE";

interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

/** What is wrong with one or more certificates; undefined for good ones, and where there is nothing at all. */
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

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== CERTIFICATE) return `only CERTIFICATE PEM blocks are allowed, found ${quoted(type)}`;
  if (hasHeaders) return "no PEM block headers are permitted";
  if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
  return findCertificate(bytes) === undefined ? "x509: malformed certificate" : undefined;
}

function findCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

/** What is wrong with certificates that others are to be trusted by: each may sign others, and is there once. */
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

function anchorProblem({ type, hasHeaders, bytes }: PemBlock, i: number): string | undefined {
  if (type !== CERTIFICATE) return `entry ${i} has bad block type: ${type}`;
  if (hasHeaders) return `entry ${i} has PEM block headers`;
  const certificate = findCertificate(bytes);
  if (certificate === undefined) return `entry ${i} does not parse as X.509`;
  return certificate.ca ? undefined : `entry ${i} does not have the CA bit set`;
}

/**
 * Whatever stands between blocks is skipped, and so are blocks that do not end as they begin or are not in base64. Each part of the text is read
 * once, however many beginnings without an end there are.
 */
function* pemBlocks(pem: string): Generator<PemBlock> {
  let end = 0;
  let next = 0;
  for (let begin = pem.indexOf(BEGIN); begin >= 0; begin = next) {
    next = pem.indexOf(BEGIN, begin + 1);
    const line = pem.indexOf("\n", begin);
    if (end < line) end = pem.indexOf(END, line);
    if (line < 0 || end < 0) return;
    const isBroken = next >= 0 && next < end;
    const block = isBroken ? undefined : readBlock(pem, { begin, line, end });
    if (block !== undefined) yield block;
  }
}

function readBlock(
  pem: string,
  { begin, line, end }: { readonly begin: number; readonly line: number; readonly end: number },
): PemBlock | undefined {
  const title = pem.slice(begin + BEGIN.length, line).trimEnd();
  const type = title.slice(0, -DASHES.length);
  if (!title.endsWith(DASHES) || !pem.startsWith(`${type}${DASHES}`, end + END.length)) return undefined;
  const body = pem.slice(line + 1, Math.max(end, line + 1));
  if (body.includes(":")) return { type, hasHeaders: true, bytes: Buffer.alloc(0) };
  const text = body.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  return { type, hasHeaders: false, bytes: Buffer.from(text, "base64") };
}
