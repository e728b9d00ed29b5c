/** What a request for a certificate asks for (PKCS #10). There is one reader for whoever admits, approves and signs it: they must see the same. */
import { constants, createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { x509 } from "../base/x509-library.ts";
import { pemBlocks } from "./pem.ts";

export interface CertificateRequest {
  /** The only one: a request with several means different people to different readers, and is refused. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** The request as it was sent. */
  readonly pem: string;
}

/** Many times what the largest key and a hundred names take; to read more would keep everybody waiting. */
const REQUEST_CHARS_MAX = 64 * 1024;

/** Undefined for what cannot be read, or not in one way only. `request` is PEM in base64, as in the spec. */
export function readCertificateRequest(request: string): CertificateRequest | undefined {
  if (request.length > REQUEST_CHARS_MAX) return undefined;
  try {
    return contentOf(Buffer.from(request, "base64").toString("latin1"));
  } catch {
    return undefined;
  }
}

function contentOf(pem: string): CertificateRequest | undefined {
  const { subjectName, extensions } = new (x509().Pkcs10CertificateRequest)(pem);
  const [commonName = "", ...others] = subjectName.getField("CN");
  if (others.length > 0) return undefined;
  const names = extensions.flatMap((extension) =>
    extension instanceof x509().SubjectAlternativeNameExtension ? extension.names.items : [],
  );
  const ofType = (type: X509.GeneralNameType): readonly string[] =>
    names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    commonName,
    organizations: subjectName.getField("O"),
    dnsNames: ofType("dns"),
    addresses: ofType("ip"),
    emails: ofType("email"),
    uris: ofType("url"),
    pem,
  };
}

const LABEL = "CERTIFICATE REQUEST";

/** Why it is no request that anybody could approve or sign; undefined when it can be read and whoever sent it holds its key. */
export function findRequestProblem(request: string): string | undefined {
  if (request.length > REQUEST_CHARS_MAX)
    return `must be no longer than ${String(REQUEST_CHARS_MAX)} characters`;
  const [block] = pemBlocks(Buffer.from(request, "base64").toString("latin1"));
  if (block?.label !== LABEL) return `PEM block type must be ${LABEL}`;
  try {
    return isSelfSigned(block.bytes) ? undefined : "x509: the signature is not one of the key in the request";
  } catch {
    return "x509: malformed certificate request";
  }
}

/** The key of a request in DER, and whether whoever sent it holds it; undefined when it cannot be read. */
export function findRequestKey(
  der: Buffer,
): { readonly key: KeyObject; readonly isProven: boolean } | undefined {
  try {
    return { key: keyOf(new (x509().Pkcs10CertificateRequest)(der)), isProven: isSelfSigned(der) };
  } catch {
    return undefined;
  }
}

function keyOf({ publicKey }: X509.Pkcs10CertificateRequest): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey.rawData), format: "der", type: "spki" });
}

/** Throws when it cannot be read. At once, since rules do not wait. */
function isSelfSigned(der: Buffer): boolean {
  const request = new (x509().Pkcs10CertificateRequest)(der);
  const { name, hash, saltLength } = request.signatureAlgorithm as SignatureAlgorithm;
  const key = keyOf(request);
  const padding = name === "RSA-PSS" ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : {};
  const digest = hash?.name.replace("-", "");
  return verify(digest, signedPart(der), { key, ...padding }, Buffer.from(request.signature));
}

interface SignatureAlgorithm {
  readonly name: string;
  /** Without one the kind of key says it (Ed25519). */
  readonly hash?: { readonly name: string };
  readonly saltLength?: number;
}

/** The first member of the outer sequence, with its tag and length (RFC 2986). */
function signedPart(der: Buffer): Buffer {
  const begin = contentAt(der, 0).begin;
  return der.subarray(begin, contentAt(der, begin).end);
}

/** Where the content of the value at `at` begins and ends; the library has read it before, so it is well-formed. */
function contentAt(der: Buffer, at: number): { readonly begin: number; readonly end: number } {
  const first = der.readUInt8(at + 1);
  const lengthBytes = first < LONG_LENGTH ? 0 : first - LONG_LENGTH;
  const begin = at + 2 + lengthBytes;
  return { begin, end: begin + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes)) };
}

/** From here on it is said in how many bytes the length follows. */
const LONG_LENGTH = 0x80;
