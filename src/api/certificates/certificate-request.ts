/**
 * Parses a certificate request (PKCS #10, RFC 2986). Admission, approval and signing all use this parser. The signer
 * builds certificates from the parsed values, never from the request's bytes, so that it signs only validated content.
 */
import { isAscii } from "node:buffer";
import { constants, createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { x509 } from "../../base/keys/x509-library.ts";
import { addressOfBytes, ipAddressText } from "../values/ip-address.ts";
import { DER, derMembers, derObjectId, expectTag, readDer } from "./der.ts";
import type { DerValue } from "./der.ts";
import { COMMON_NAME, ORGANIZATION, readName } from "./distinguished-name.ts";
import type { NameAttribute } from "./distinguished-name.ts";
import { pemBlocks } from "./pem.ts";

export interface CertificateRequest {
  /** The only common name. A request with several is refused, because parsers disagree about which one counts. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** All attributes of the subject, including common name and organizations. */
  readonly subject: readonly NameAttribute[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** Public key of the certificate in DER (SubjectPublicKeyInfo). */
  readonly publicKey: Buffer;
  /** True if the request is signed with the private key of `publicKey`. */
  readonly isProven: boolean;
}

/**
 * Many times the size of the largest key with a hundred names. Parsing is synchronous, so a longer request would delay
 * other requests.
 */
const REQUEST_CHARS_MAX = 64 * 1024;

/** Undefined if the request is malformed or ambiguous. `request` is PEM in base64, as in the spec. */
export function readCertificateRequest(request: string): CertificateRequest | undefined {
  if (request.length > REQUEST_CHARS_MAX) return undefined;
  const [block] = pemBlocks(Buffer.from(request, "base64").toString("latin1"));
  if (block?.label !== LABEL) return undefined;
  try {
    const { subject, ...names } = partsOf(block.bytes);
    const [commonName = "", ...others] = valuesOf(subject, COMMON_NAME);
    if (others.length > 0) return undefined;
    const organizations = valuesOf(subject, ORGANIZATION);
    return { commonName, organizations, subject, ...names, isProven: isSelfSigned(block.bytes) };
  } catch {
    return undefined;
  }
}

function valuesOf(subject: readonly NameAttribute[], wanted: string): readonly string[] {
  return subject.filter(({ type }) => type === wanted).map(({ value }) => value);
}

const LABEL = "CERTIFICATE REQUEST";

/** Reason why no signer could sign the request. Undefined if the request is well-formed and signed with its own key. */
export function findRequestProblem(request: string): string | undefined {
  if (request.length > REQUEST_CHARS_MAX)
    return `must be no longer than ${String(REQUEST_CHARS_MAX)} characters`;
  const [block] = pemBlocks(Buffer.from(request, "base64").toString("latin1"));
  if (block?.label !== LABEL) return `PEM block type must be ${LABEL}`;
  try {
    partsOf(block.bytes);
    return isSelfSigned(block.bytes) ? undefined : "x509: the signature is not one of the key in the request";
  } catch (error) {
    const why = error instanceof SyntaxError ? `: ${error.message}` : "";
    return `x509: malformed certificate request${why}`;
  }
}

/**
 * The public key of a request in DER, and whether the request is signed with it. Undefined if the request is malformed.
 */
export function findRequestKey(
  der: Buffer,
): { readonly key: KeyObject; readonly isProven: boolean } | undefined {
  try {
    return { key: keyOf(partsOf(der).publicKey), isProven: isSelfSigned(der) };
  } catch {
    return undefined;
  }
}

function keyOf(publicKey: Buffer): KeyObject {
  return createPublicKey({ key: publicKey, format: "der", type: "spki" });
}

type RequestParts = Omit<CertificateRequest, "commonName" | "organizations" | "isProven">;

/** Tag of the request's attributes. */
const ATTRIBUTES = 0xa0;

function partsOf(der: Buffer): RequestParts {
  const [info, algorithm, signature, ...rest] = derMembers(readDer(der, DER.sequence));
  expectTag(algorithm, DER.sequence);
  expectTag(signature, DER.bitString);
  const [version, name, key, attributes, ...others] = derMembers(expectTag(info, DER.sequence));
  expectTag(version, DER.integer);
  if (rest.length > 0 || others.length > 0) throw new SyntaxError("trailing data");
  return {
    subject: readName(expectTag(name, DER.sequence)),
    publicKey: expectTag(key, DER.sequence).bytes,
    ...alternativeNames(attributes === undefined ? [] : extensionsOf(expectTag(attributes, ATTRIBUTES))),
  };
}

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ALTERNATIVE_NAME = "2.5.29.17";

interface RequestedExtension {
  readonly id: string;
  readonly value: Buffer;
}

function extensionsOf(attributes: DerValue): readonly RequestedExtension[] {
  const lists = derMembers(attributes).flatMap((attribute) => {
    const [id, values] = derMembers(expectTag(attribute, DER.sequence));
    return derObjectId(id) === EXTENSION_REQUEST ? derMembers(expectTag(values, DER.set)) : [];
  });
  const found = lists.flatMap((list) => derMembers(expectTag(list, DER.sequence)).map(extensionOf));
  if (new Set(found.map(({ id }) => id)).size < found.length)
    throw new SyntaxError("duplicate requested extensions");
  return found;
}

function extensionOf(extension: DerValue): RequestedExtension {
  const members = derMembers(expectTag(extension, DER.sequence));
  const isMarked = members[1]?.tag === DER.boolean;
  const value = expectTag(members[isMarked ? 2 : 1], DER.octetString);
  return { id: derObjectId(members[0]), value: value.content };
}

/** Tags of the alternative names that issued certificates may have. Other types are dropped, as in upstream. */
const [EMAIL, DNS, URI, ADDRESS] = [0x81, 0x82, 0x86, 0x87];

type AlternativeNames = Pick<CertificateRequest, "dnsNames" | "addresses" | "emails" | "uris">;

function alternativeNames(extensions: readonly RequestedExtension[]): AlternativeNames {
  const extension = extensions.find(({ id }) => id === ALTERNATIVE_NAME);
  const names = extension === undefined ? [] : derMembers(readDer(extension.value, DER.sequence));
  const withTag = (wanted: number): readonly Buffer[] =>
    names.flatMap(({ tag, content }) => (tag === wanted ? [content] : []));
  return {
    emails: withTag(EMAIL).map(asciiText),
    dnsNames: withTag(DNS).map(asciiText),
    uris: withTag(URI).map(asciiText),
    addresses: withTag(ADDRESS).map(addressText),
  };
}

function asciiText(content: Buffer): string {
  if (!isAscii(content) || content.includes(0))
    throw new SyntaxError("an alternative name is not an IA5String");
  return content.toString("latin1");
}

function addressText(content: Buffer): string {
  const address = addressOfBytes(content);
  if (address === undefined) throw new SyntaxError("an alternative name is not an IP address");
  return ipAddressText(address);
}

/** Throws if the signature algorithm is unknown. Synchronous, because validation is synchronous. */
function isSelfSigned(der: Buffer): boolean {
  const [info, , signature] = derMembers(readDer(der, DER.sequence));
  const { signatureAlgorithm } = new (x509().Pkcs10CertificateRequest)(der);
  const { name, hash, saltLength } = signatureAlgorithm as SignatureAlgorithm;
  const key = keyOf(partsOf(der).publicKey);
  const padding = name === "RSA-PSS" ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : {};
  const digest = hash?.name.replace("-", "");
  // The first byte counts the unused bits of the last byte; it is 0 for signatures.
  const signed = expectTag(signature, DER.bitString).content.subarray(1);
  return verify(digest, expectTag(info, DER.sequence).bytes, { key, ...padding }, signed);
}

interface SignatureAlgorithm {
  readonly name: string;
  /** Absent if the type of key implies the hash (Ed25519). */
  readonly hash?: { readonly name: string };
  readonly saltLength?: number;
}
